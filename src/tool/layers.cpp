// SPDX-License-Identifier: Apache-2.0
// benanza layers: the unique layers over a set of models.
#include "commands.hpp"
#include "known_layers.hpp"
#include "models.hpp"
#include "output.hpp"
#include "symbolic.hpp"
#include <benanza/detail/saturated.hpp>
#include <benanza/report/tensors_report.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

namespace benanza::tool {

namespace {

LayerSet unique_layers(const LayerGraph& form) {
  LayerSet result;
  for (const auto& at : form.layers) result.add(at.layer, form.model, at.nodes.front(), at.repeat);
  return result;
}

ModelSummary summarise(const ModelLayers& model, std::size_t unique_layers) {
  ModelSummary result{.model = model.single.model,
                      .file = model.single.file,
                      .batch = model.single.batch,
                      .dims = model.single.dims,
                      .assumed = model.single.assumed,
                      .unique_layers = static_cast<std::int64_t>(unique_layers),
                      .weights = model.single.weights,
                      .unknown = model.single.unknown};
  for (const auto& at : model.single.layers) {
    const Cost c = cost(at.layer);
    detail::add_saturated(result.layers, at.repeat);
    detail::add_saturated(result.macs, detail::saturated_product(c.macs, at.repeat));
    result.flops += c.flops * static_cast<double>(at.repeat);
    result.bytes += (at.read_weights + at.read_activations + at.written) * static_cast<double>(at.repeat);
    if (is_free(at.layer)) detail::add_saturated(result.free, at.repeat);
    if (is_opaque(at.layer)) detail::add_saturated(result.opaque, at.repeat);
  }
  for (const auto& at : model.fused.layers) result.groups += is_free(at.layer) ? 0 : 1;
  return result;
}

/// The contribution of one model to the report.
struct Layers {
  ModelSummary summary{};
  LayerSet bound{};
  std::vector<SymbolicLayer> symbolic{};
};

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
  command->footer("example: benanza layers examples/models/zoo2019");
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
    LayersReport report;
    const auto bound = [&](Graph&& graph) {
      const ModelLayers model = make_model_layers(graph);
      LayerSet single = unique_layers(model.single);
      Layers made{.summary = summarise(model, single.size())};
      made.bound = options->fused ? unique_layers(model.fused) : std::move(single);
      return made;
    };
    const auto symbolic = [&](const ModelAt& at, const UnboundError& error) -> std::optional<Layers> {
      auto model = symbolic_model(at, error, options->fused);
      if (!model) return std::nullopt;
      Layers made{.summary = summarise(model->likely, model->layers.size()), .symbolic = std::move(model->layers)};
      made.summary.open = std::move(model->open);
      for (const auto& symbol : made.summary.open) made.summary.dims.erase(symbol);
      return made;
    };
    for (auto& [summary, layers, open] : from_each_graph(options->models, options->output.quiet, bound, symbolic)) {
      report.models.push_back(std::move(summary));
      report.layers.merge(std::move(layers));
      report.symbolic.insert(report.symbolic.end(), open.begin(), open.end());
    }
    if (options->known.asked()) report.known = known_layers_report(options->known, options->models, options->fused);
    emit(report, options->output);
  });
}

}  // namespace benanza::tool
