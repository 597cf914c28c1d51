// SPDX-License-Identifier: Apache-2.0
#include "declared_machine.hpp"

#include "analyze_model.hpp"
#include "models.hpp"
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/results/machine_file.hpp>

#include <CLI/CLI.hpp>

namespace benanza::tool {

void add_declared_machine(CLI::App& command, std::string& file, const std::vector<std::string>& excluded) {
  auto* option = command
                     .add_option("--machine", file,
                                 "model floor and roofline of a machine that you do not have, from its declared peaks; "
                                 "examples/machines has some")
                     ->type_name("FILE");
  for (const auto& name : excluded) option->excludes(command.get_option(name));
}

BoundReport declared_report(const std::string& file, const ModelOptions& models, bool quiet) {
  Run run = read_machine_file(file);
  BoundReport report{.machine = run.machine, .declared = file, .training = models.training.training};
  ResultDatabase results;
  results.add(std::move(run));
  report.models = from_each_model(models, quiet, [&results](ModelLayers&& model) {
    return analyze_model(model, results, {.threads = 1, .analytic = true});
  });
  if (models.sweeps()) report.sweeps = make_sweeps(report.models);
  return report;
}

}  // namespace benanza::tool
