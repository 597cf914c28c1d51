// SPDX-License-Identifier: Apache-2.0
#include "run_context.hpp"

#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

namespace benanza {

namespace {

constexpr std::string_view date = "date", tool = "benanza_version", version = "signature_version", suite = "suite",
                           device = "machine/device", isa = "machine/isa", cores = "machine/cores",
                           affinity = "machine/affinity", memory = "machine/memory_bytes", system = "machine/system",
                           driver = "machine/driver", family = "machine/family", model = "machine/model",
                           stepping = "machine/stepping", microcode = "machine/microcode",
                           hypervisor = "machine/hypervisor", settings = "machine/settings",
                           state_prefix = "machine/state/", cache_prefix = "machine/L", cache_suffix = "_bytes",
                           backend_prefix = "backend/", warning_prefix = "warning/",
                           others = "other_processes_percent";  // of a processor

/// Facts of a machine's identity that a file may lack.
constexpr std::array<std::pair<std::string_view, std::string Machine::*>, 6> optional_facts{
    {{family, &Machine::family},
     {model, &Machine::model},
     {stepping, &Machine::stepping},
     {microcode, &Machine::microcode},
     {hypervisor, &Machine::hypervisor},
     {settings, &Machine::settings}}};

std::string text(Bytes bytes) { return std::to_string(static_cast<std::int64_t>(bytes.value)); }

template <class Integer = std::int64_t>
Integer number(std::string_view key, std::string_view value) {
  Integer result{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result < 0)
    throw InputError("context '" + std::string(key) + "' is '" + std::string(value) + "', expected a whole number");
  return result;
}

bool is_cache(std::string_view key) {
  return key.starts_with(cache_prefix) && key.ends_with(cache_suffix) &&
         key.size() > cache_prefix.size() + cache_suffix.size();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> run_context(const Run& run) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto add = [&pairs](std::string_view key, std::string value) { pairs.emplace_back(key, std::move(value)); };
  add(date, run.started);
  add(tool, run.tool);
  add(version, std::to_string(run.signature_version));
  add(suite, run.name);
  add(device, run.machine.device);
  add(isa, run.machine.isa);
  add(cores, std::to_string(run.machine.cores));
  add(affinity, run.machine.affinity);
  for (const auto& cache : run.machine.caches)
    add(std::string(cache_prefix) + std::to_string(cache.level) + std::string(cache_suffix), text(cache.total));
  add(memory, text(run.machine.memory));
  add(system, run.machine.system);
  if (run.machine.is_device()) add(driver, run.machine.driver);
  for (const auto& [key, member] : optional_facts)
    if (!(run.machine.*member).empty()) add(key, run.machine.*member);
  for (const auto& [what, value] : run.machine.state) add(std::string(state_prefix) + what, value);
  for (const auto& backend : run.backends) add(std::string(backend_prefix) + backend.name, backend.version);
  if (const auto percent = std::lround(100 * run.others); percent > 0) add(others, std::to_string(percent));
  for (std::size_t i = 0; i < run.warnings.size(); ++i)
    add(std::string(warning_prefix) + std::to_string(i + 1), run.warnings[i]);
  return pairs;
}

bool is_context_key(std::string_view key) {
  constexpr std::array plain{date, tool, version, suite, device, isa, cores, affinity, memory, system, driver, others};
  const auto is_optional = [&](const auto& fact) { return fact.first == key; };
  return std::find(plain.begin(), plain.end(), key) != plain.end() || is_cache(key) ||
         std::any_of(optional_facts.begin(), optional_facts.end(), is_optional) || key.starts_with(backend_prefix) ||
         key.starts_with(state_prefix) || key.starts_with(warning_prefix);
}

bool is_remark(std::string_view key) { return key == tool || key == suite || key.starts_with(warning_prefix); }

void read_context(Run& run, std::string_view key, std::string_view value) {
  Machine& machine = run.machine;
  for (const auto& [name, member] : optional_facts)
    if (name == key) machine.*member = value;
  if (key == date) run.started = value;
  else if (key == tool) run.tool = value;
  else if (key == version) run.signature_version = number<int>(key, value);
  else if (key == suite) run.name = value;
  else if (key == device) machine.device = value;
  else if (key == isa) machine.isa = value;
  else if (key == cores) machine.cores = number<int>(key, value);
  else if (key == affinity) machine.affinity = value;
  else if (key == memory) machine.memory.value = static_cast<double>(number(key, value));
  else if (key == system) machine.system = value;
  else if (key == driver) machine.driver = value;
  else if (key == others) run.others = number<int>(key, value) / 100.0;
  else if (key.starts_with(state_prefix)) machine.state[std::string(key.substr(state_prefix.size()))] = value;
  else if (is_cache(key)) {
    const auto level = key.substr(cache_prefix.size(), key.size() - cache_prefix.size() - cache_suffix.size());
    machine.caches.push_back({number<int>(key, level), {static_cast<double>(number(key, value))}});
  } else if (key.starts_with(backend_prefix)) {
    run.backends.push_back({std::string(key.substr(backend_prefix.size())), std::string(value)});
  } else if (key.starts_with(warning_prefix)) {
    run.warnings.emplace_back(value);
  }
}

void check_context(const Run& run) {
  if (run.signature_version == 0)
    throw InputError("no '" + std::string(version) +
                     "' in its context, expected a file of Benanza's (one of 2019 needs --rules 2019)");
  if (run.signature_version > LayerSignature::version)
    throw InputError("signatures of version " + std::to_string(run.signature_version) + ", expected at most " +
                     std::to_string(LayerSignature::version) + ": written by a newer Benanza");
  if (run.machine.cores == 0)
    throw InputError("no '" + std::string(cores) + "' in its context: results of an unknown machine cannot be used");
}

}  // namespace benanza
