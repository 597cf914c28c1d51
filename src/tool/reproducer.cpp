// SPDX-License-Identifier: Apache-2.0
#include "reproducer.hpp"

#include "options.hpp"
#include "plan/backends.hpp"
#include "terminal.hpp"
#include <benanza/base/detail/shell_word.hpp>
#include <benanza/error.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/results.hpp>

#include <CLI/CLI.hpp>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <variant>

namespace benanza::tool {

namespace {

/// The fastest valid hot row of a library that is among the backends and has reproducers, because a reproducer also
/// keeps its buffers. On a processor, rows of this machine; on a GPU, rows of the only device that has any.
Measurement best_known(const std::string& signature, const std::filesystem::path& folder,
                       const std::vector<std::string>& backends) {
  const ResultDatabase database = ResultDatabase::open(folder);
  const Machine machine = measure::this_machine();
  const Measurement* best = nullptr;
  std::string device;
  for (const auto& run : database.runs()) {
    if (!run.machine.is_device() && !machine.differences(run.machine).empty()) continue;
    for (const auto& row : run.rows) {
      if (row.signature != signature || row.cache != CacheState::hot || !row.measured() ||
          !can_stand_alone(row.backend) || std::find(backends.begin(), backends.end(), row.backend) == backends.end())
        continue;
      if (run.machine.is_device() && !device.empty() && device != run.machine.id())
        throw UsageError(folder.string() + ": holds results of " + device + " and of " + run.machine.id() + " for '" +
                         signature + "'; give --plan");
      if (run.machine.is_device()) device = run.machine.id();
      if (!best || row.times->p10 < best->times->p10) best = &row;
    }
  }
  if (!best)
    throw InputError(folder.string() + ": holds no result of this machine for '" + signature +
                     "'; measure it (benanza measure " + signature + "), or give --plan");
  return *best;
}

/// Warns about a plan that the library does not offer here; a result of another machine may name such a plan.
void check_plan(const Reproducer& reproducer) {
  const auto all = plan::all_backends();
  const auto backend =
      std::find_if(all.begin(), all.end(), [&](const auto& b) { return b->name() == reproducer.backend; });
  if (backend == all.end() || std::holds_alternative<Unsupported>((*backend)->availability())) return;
  const std::string_view key = "threads=";
  const auto at = reproducer.plan.rfind(key);
  const int threads = at == std::string::npos ? 1 : std::atoi(reproducer.plan.c_str() + at + key.size());
  const int cores = (*backend)->on_device() ? 1 : measure::this_machine().cores;
  if (threads > cores) {
    terminal::warn("--plan: " + std::to_string(threads) + " threads, this machine has " + std::to_string(cores) +
                   " cores");
    return;
  }
  const auto answer = (*backend)->drafts(reproducer.layer, std::max(threads, 1));
  const std::string who = "--plan: " + reproducer.backend + " " + (*backend)->version() + " ";
  if (const auto* unsupported = std::get_if<Unsupported>(&answer)) return terminal::warn(who + unsupported->reason);
  std::string offered;
  for (const auto& plan : std::get<PlanDrafts>(answer)) {
    if (plan.algorithm == reproducer.plan) return;
    offered += "\n  " + plan.algorithm;
  }
  terminal::warn(who + "has no '" + reproducer.plan + "' for this layer here; it has" + offered);
}

/// A file as a word of a shell, by the variable HOME if it lies in that folder: the line may be shown to others.
std::string shell_path(const std::string& file) {
  const char* const home = std::getenv("HOME");
  const std::string word = detail::shell_word(file);
  const bool is_in_home = home != nullptr && *home != '\0' && file.starts_with(std::string(home) + "/");
  return is_in_home && word == file ? "\"$HOME\"" + file.substr(std::string(home).size()) : word;
}

/// The file of a shared library that this process has loaded; empty if there is none of that name.
std::filesystem::path loaded_library(std::string_view name) {
  std::pair<std::string_view, std::filesystem::path> wanted{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& [begin, found] = *static_cast<std::pair<std::string_view, std::filesystem::path>*>(data);
        const std::filesystem::path file(info->dlpi_name);
        if (file.filename().string().starts_with(begin)) found = file.lexically_normal();
        return found.empty() ? 0 : 1;
      },
      &wanted);
  return wanted.second;
}

/// The compiler options for a library of the processor where this program has it from: its headers are in a folder
/// `include` in place of the folder `lib`. Empty if they are not: then the compiler has to find both.
std::string link_options(const std::string& backend) {
  const bool is_onednn = backend == "onednn";
  if (!is_onednn && backend != "openblas") return {};
  const std::filesystem::path file = loaded_library(is_onednn ? "libdnnl.so" : "libopenblas.so");
  std::filesystem::path headers;
  for (const auto& part : file.parent_path()) headers /= part == "lib" ? "include" : part;
  if (file.empty() || !std::filesystem::exists(headers / (is_onednn ? "oneapi/dnnl/dnnl.hpp" : "cblas.h"))) return {};
  const std::string folder = shell_path(file.parent_path().string());
  return "-fopenmp -I" + shell_path(headers.string()) + " -L" + folder + " -Wl,-rpath," + folder +
         " -l:" + file.filename().string();
}

}  // namespace

void ReproducerOptions::add_to(CLI::App& app) {
  database = default_database();
  app.add_option("--reproducer", signature,
                 "instead of a suite: one layer by one plan in one file, in calls of the library alone")
      ->type_name("SIGNATURE");
  app.add_option("--plan", plan,
                 "the reproducer's plan, as results name it: BACKEND/ALGORITHM (default: the best known)")
      ->type_name("TEXT")
      ->needs("--reproducer");
  app.add_option("--database", database,
                 "folder of results in which the best plan is looked up (default: ~/.cache/benanza/results)")
      ->type_name("DIR");
}

Reproducer make_reproducer(const ReproducerOptions& options, const std::vector<std::string>& backends) {
  Reproducer result{.layer = parse_layer(options.signature)};
  const std::string signature = LayerSignature(result.layer).text();
  if (options.plan.empty()) {
    const Measurement best = best_known(signature, options.database, backends);
    result.backend = best.backend;
    result.plan = best.algorithm;
  } else {
    const auto at = options.plan.find_first_of("/ ");
    if (at == std::string::npos || at == 0 || at + 1 == options.plan.size())
      throw UsageError("--plan: '" + options.plan + "', expected BACKEND/ALGORITHM, e.g. onednn/jit:avx2,threads=1");
    result.backend = options.plan.substr(0, at);
    result.plan = options.plan.substr(at + 1);
    check_plan(result);
  }
  result.link = link_options(result.backend);
  result.command = "benanza generate --reproducer " + signature + " --plan " + result.backend + "/" + result.plan;
  return result;
}

}  // namespace benanza::tool
