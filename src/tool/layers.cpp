// SPDX-License-Identifier: Apache-2.0
// benanza layers: the unique layers over a set of models.
#include "commands.hpp"
#include "models.hpp"
#include "output.hpp"
#include <benanza/layer_signature.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <set>

namespace benanza::tool {

namespace {

ModelSummary summarise(const ModelLayers& model) {
  ModelSummary result{.model = model.single.model,
                      .file = model.single.file,
                      .batch = model.single.batch,
                      .dims = model.single.dims,
                      .weights = model.single.weights,
                      .unknown = model.single.unknown};
  std::set<std::string> unique;
  for (const auto& at : model.single.layers) {
    const Cost c = cost(at.layer);
    unique.insert(signature(at.layer).text());
    result.layers += at.repeat;
    result.macs += c.macs * at.repeat;
    result.flops += c.flops * static_cast<double>(at.repeat);
    result.bytes += (at.read_weights + at.read_activations + at.written) * static_cast<double>(at.repeat);
    if (is_free(at.layer)) result.free += at.repeat;
    if (is_opaque(at.layer)) result.opaque += at.repeat;
  }
  result.unique_layers = static_cast<std::int64_t>(unique.size());
  for (const auto& at : model.fused.layers) result.groups += is_free(at.layer) ? 0 : 1;
  return result;
}

struct Options {
  ModelOptions models{};
  OutputOptions output{};
  bool fused = false;
};

}  // namespace

void add_layers(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("layers", "unique layers over a set of models: counts, FLOPs, bytes, who uses them");
  command->footer("example: benanza layers examples/models/zoo2019");
  options->models.add_to(*command);
  options->output.add_to(*command);
  command->add_flag("--fused", options->fused, "the groups of fused form instead of ONNX nodes");
  command->callback([options, &exit_code] {
    check_writable(options->output);
    LayersReport report;
    for (const auto& model : load_models(options->models)) {
      report.models.push_back(summarise(model));
      const LayerGraph& form = options->fused ? model.fused : model.single;
      for (const auto& at : form.layers) report.layers.add(at.layer, model.single.model, at.nodes.front(), at.repeat);
    }
    emit(report, options->output);
    exit_code = done;
  });
}

}  // namespace benanza::tool
