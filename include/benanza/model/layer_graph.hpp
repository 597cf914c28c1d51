// SPDX-License-Identifier: Apache-2.0
// make_layer_graph: the LayerGraph of a model in single form. Bodies of If, Loop and Scan are flattened into it: a
// loop's layers carry its trip count, a branch's layers the choice that they belong to.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/model/model_layers.hpp>

#include <span>
#include <vector>

namespace benanza {

/// Single form.
[[nodiscard]] LayerGraph make_layer_graph(const Graph& graph);

/// The arithmetic of layers that none of the outputs needs, grouped by the readers of only a part; largest first.
[[nodiscard]] std::vector<DeadWork> dead_work(std::span<const Occurrence> layers);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/layer_graph_inl.hpp>
#endif
