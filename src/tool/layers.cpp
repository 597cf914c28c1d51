// SPDX-License-Identifier: Apache-2.0
// benanza layers: the unique layers over a set of models.
#include "commands.hpp"
#include "known_layers_options.hpp"
#include "models.hpp"
#include "output.hpp"
#include "symbolic.hpp"
#include <benanza/report/tensors_report.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

namespace benanza::tool {

namespace {

struct LayersCommand {
  ModelOptions models{};
  OutputOptions output{};
  KnownLayersOptions known{};
  bool fused = false, tensors = false;
};

}  // namespace

void add_layers(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LayersCommand>();
  auto* command =
      app.add_subcommand("layers", "unique layers over a set of models: counts, FLOPs, bytes, who uses them");
  command->footer("benanza layers examples/models/zoo2019");
  options->models.add_to(*command);
  options->models.training.add_to(*command);
  options->output.add_to(*command);
  command->add_flag("--fused", options->fused, "the groups of fused form instead of ONNX nodes");
  command->add_flag("--tensors", options->tensors, "every tensor of the graph with its type and shape instead");
  options->known.add_to(*command);
  command->callback([options, &exit_code] {
    check_writable(options->output);
    exit_code = done;
    if (!options->known.results.empty() && !options->known.asked())
      throw UsageError("--results: also give --known or --rules, for which they say what layers cost");
    if (options->tensors)
      return emit(TensorsReport{from_each_graph(options->models, options->output.quiet, tensors_of)}, options->output);
    const LayersForm form = options->fused ? LayersForm::fused : LayersForm::single;
    const auto bound = [&](Graph&& graph) { return make_layers_report(both_forms(graph), form); };
    const auto symbolic = [&](const ModelAt& at, const UnboundError& error) -> std::optional<LayersReport> {
      auto model = symbolic_model(at, error, options->fused);
      if (!model) return std::nullopt;
      LayersReport made{.models = make_layers_report(model->likely).models, .symbolic = std::move(model->layers)};
      ModelSummary& summary = made.models.front();
      summary.unique_layers = static_cast<std::int64_t>(made.symbolic.size());
      summary.open = std::move(model->open);
      for (const auto& symbol : summary.open) summary.dims.erase(symbol);
      return made;
    };
    LayersReport report;
    for (auto& one : from_each_graph(options->models, options->output.quiet, bound, symbolic))
      report.merge(std::move(one));
    if (options->known.asked()) report.known = known_layers_report(options->known, options->models, options->fused);
    emit(report, options->output);
  });
}

}  // namespace benanza::tool
