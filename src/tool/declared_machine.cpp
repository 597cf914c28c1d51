// SPDX-License-Identifier: Apache-2.0
#include "declared_machine.hpp"

#include "analyze_model.hpp"
#include "models.hpp"
#include "terminal.hpp"
#include <benanza/bounds/detail/occurrence_floors.hpp>
#include <benanza/bounds/make_sweeps.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/results/machine_file.hpp>

#include <CLI/CLI.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::tool {

void add_declared_machine(CLI::App& command, std::string& file, const std::vector<std::string>& excluded) {
  auto* option = command
                     .add_option("--machine", file,
                                 "model floor and roofline of a machine that you do not have, from its declared peaks; "
                                 "examples/machines has some")
                     ->type_name("FILE");
  for (const auto& name : excluded) option->excludes(command.get_option(name));
}

namespace {

/// Says for which arithmetic the file declares no peak, if models have no floor for that.
void warn_of_lacking_peaks(const std::string& file, const std::vector<Analysis>& models) {
  std::set<std::string_view> types;
  for (const Analysis& model : models) {
    if (model[RungName::model_floor].bound) continue;
    for (const auto& row : model.rows)
      if (const Layer layer = parse_layer(row.signature); !detail::has_arithmetic_floor(layer, model.ceilings))
        types.insert(name(arithmetic_type(layer)));
  }
  for (const auto type : types)
    terminal::warn(file + " declares no peak of " + std::string(type) + ", so layers of this type have no floor");
}

}  // namespace

BoundReport declared_report(const std::string& file, const ModelOptions& models, bool quiet) {
  Run run = read_machine_file(file);
  BoundReport report{.machine = run.machine, .declared = file, .training = models.training.training};
  ResultDatabase results;
  results.add(std::move(run));
  report.models = from_each_model(models, quiet, [&results](ModelLayers&& model) {
    return analyze_model(model, results, {.threads = 1, .analytic = true});
  });
  if (!quiet) warn_of_lacking_peaks(file, report.models);
  if (models.sweeps()) report.sweeps = make_sweeps(report.models);
  return report;
}

}  // namespace benanza::tool
