// SPDX-License-Identifier: Apache-2.0
// make_model_layers: a model's layers in both forms; measurable_layers: those that have to be measured.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/model/layer_set.hpp>
#include <benanza/model/model_layers.hpp>

#include <span>

namespace benanza {

struct Pattern;

[[nodiscard]] ModelLayers make_model_layers(const Graph& graph, std::span<const Pattern> patterns);
/// Uses the default patterns.
[[nodiscard]] ModelLayers make_model_layers(const Graph& graph);

/// Adds the layers that have to be measured for a model's bounds: its single layers, the groups of its fused form, and
/// those parts of groups that are also one call. Free and opaque layers are not added.
void add_measurable(const ModelLayers& model, LayerSet& set);
[[nodiscard]] LayerSet measurable_layers(const ModelLayers& model);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/fusion/model_layers_inl.hpp>
#endif
