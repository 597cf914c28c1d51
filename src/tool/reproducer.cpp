// SPDX-License-Identifier: Apache-2.0
#include "reproducer.hpp"

#include "options.hpp"
#include <benanza/bench/measure.hpp>
#include <benanza/error.hpp>
#include <benanza/layer_signature.hpp>
#include <benanza/results.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>

namespace benanza::tool {

namespace {

/// The fastest valid hot row of a library that is among the backends and has reproducers: they keep their buffers too.
/// On a processor those of this machine; on a GPU those of the one device that has any.
Measurement best_known(const std::string& signature, const std::filesystem::path& folder,
                       const std::vector<std::string>& backends) {
  const ResultDatabase database = ResultDatabase::open(folder);
  const std::string machine = bench::this_machine().id();
  const Measurement* best = nullptr;
  std::string device;
  for (const auto& run : database.runs()) {
    if (!run.machine.is_device() && run.machine.id() != machine) continue;
    for (const auto& row : run.rows) {
      if (row.signature != signature || row.cache != CacheState::hot || row.excluded || !has_reproducer(row.backend) ||
          std::find(backends.begin(), backends.end(), row.backend) == backends.end())
        continue;
      if (run.machine.is_device() && !device.empty() && device != run.machine.id())
        throw UsageError(folder.string() + ": holds results of " + device + " and of " + run.machine.id() + " for '" +
                         signature + "'; give --plan");
      if (run.machine.is_device()) device = run.machine.id();
      if (!best || row.median < best->median) best = &row;
    }
  }
  if (!best)
    throw InputError(folder.string() + ": holds no result of this machine for '" + signature +
                     "'; measure it (benanza bound), or give --plan");
  return *best;
}

}  // namespace

void ReproducerOptions::add_to(CLI::App& app) {
  database = default_database();
  app.add_option("--reproducer", signature,
                 "instead of a suite: one convolution or matrix product by one plan, the library's own calls only")
      ->type_name("SIGNATURE");
  app.add_option("--plan", plan, "of the reproducer, as results name it: BACKEND/ALGORITHM (default: the best known)")
      ->type_name("TEXT");
  app.add_option("--database", database, "folder of results in which the best plan is looked up")
      ->type_name("DIR")
      ->default_str(database.string());
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
  }
  result.command = "benanza generate --reproducer " + signature + " --plan " + result.backend + "/" + result.plan;
  return result;
}

}  // namespace benanza::tool
