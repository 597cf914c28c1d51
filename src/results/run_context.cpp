// SPDX-License-Identifier: Apache-2.0
#include "run_context.hpp"

#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
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

/// A date, or a date and a time, of ISO 8601, such that texts compare as the instants do: in UTC. A text without a zone
/// stays as it is. Nothing for other texts.
std::optional<std::string> in_utc(const std::string& text) {
  using std::chrono::minutes;
  int year = 0, hour = 0, minute = 0, second = 0, length = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length) != 3) return std::nullopt;
  const std::chrono::year_month_day parts{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!parts.ok()) return std::nullopt;
  const char* rest = text.c_str() + length;
  if (*rest == '\0') return text;
  if ((*rest != 'T' && *rest != ' ') || std::sscanf(rest + 1, "%2d:%2d%n", &hour, &minute, &length) != 2)
    return std::nullopt;
  rest += 1 + length;
  if (std::sscanf(rest, ":%2d%n", &second, &length) == 1) rest += length;
  if (*rest == '.') rest += 1 + std::strspn(rest + 1, "0123456789");
  const bool fits = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (!fits) return std::nullopt;
  if (*rest == '\0' || std::string_view(rest) == "Z") return text;
  int hours_ahead = 0, minutes_ahead = 0;
  const char sign = *rest;
  if (sign != '+' && sign != '-') return std::nullopt;
  if (std::sscanf(rest + 1, "%2d:%2d%n", &hours_ahead, &minutes_ahead, &length) != 2 &&
      std::sscanf(rest + 1, "%2d%2d%n", &hours_ahead, &minutes_ahead, &length) != 2)
    return std::nullopt;
  if (rest[1 + length] != '\0') return std::nullopt;
  const minutes ahead = (sign == '-' ? -1 : 1) * minutes(60 * hours_ahead + minutes_ahead);
  if (ahead == minutes(0)) return text;
  const minutes instant = std::chrono::sys_days(parts).time_since_epoch() + minutes(60 * hour + minute) - ahead;
  const auto midnight = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date_there{std::chrono::sys_days(midnight)};
  const auto since = static_cast<int>((instant - midnight).count());
  std::array<char, 64> made{};
  std::snprintf(made.data(), made.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date_there.year()),
                static_cast<unsigned>(date_there.month()), static_cast<unsigned>(date_there.day()), since / 60,
                since % 60, second);
  return std::string(made.data());
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
  if (key == date) {
    const std::optional<std::string> started = in_utc(std::string(value));
    if (!started && !value.empty())
      run.faults.push_back("the date '" + std::string(value) + "' is none of ISO 8601: the run counts as the oldest");
    run.started = started.value_or("");
  } else if (key == tool) run.tool = value;
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
