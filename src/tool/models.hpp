// SPDX-License-Identifier: Apache-2.0
// Models as subcommands use them.
#pragma once

#include "in_parallel.hpp"
#include "options.hpp"
#include <benanza/fusion/model_layers.hpp>
#include <benanza/onnx.hpp>

#include <filesystem>
#include <optional>
#include <vector>

namespace benanza::tool {

/// A model at one of the points of a sweep.
struct ModelAt {
  std::filesystem::path file{};
  ImportOptions point{};
  std::optional<DataType> what_if{};
};
[[nodiscard]] std::vector<ModelAt> wanted_models(const ModelOptions& options);
[[nodiscard]] Graph load_graph(const ModelAt& model);

/// What `use` makes of every model in both forms, in order; models that it does not keep are gone.
template <class Use>
[[nodiscard]] auto from_each_model(const ModelOptions& options, const Use& use) {
  return each_in_parallel(wanted_models(options),
                          [&use](const ModelAt& model) { return use(make_model_layers(load_graph(model))); });
}

/// Every model of the options, of a sweep at each of its points.
[[nodiscard]] std::vector<Graph> load_graphs(const ModelOptions& options);

/// The same in both forms.
[[nodiscard]] std::vector<ModelLayers> load_models(const ModelOptions& options);

}  // namespace benanza::tool
