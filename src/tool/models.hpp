// SPDX-License-Identifier: Apache-2.0
// Models as subcommands use them.
#pragma once

#include "options.hpp"
#include <benanza/analysis.hpp>
#include <benanza/layer_set.hpp>

#include <vector>

namespace benanza::tool {

/// Every model of the options, of a sweep at each of its points.
[[nodiscard]] std::vector<Graph> load_graphs(const ModelOptions& options);

/// The same in both forms.
[[nodiscard]] std::vector<ModelLayers> load_models(const ModelOptions& options);

/// Adds what a suite over the model measures: its single layers and the ways to do its groups; neither free nor opaque
/// ones.
void add_measurable(const ModelLayers& model, LayerSet& set);

}  // namespace benanza::tool
