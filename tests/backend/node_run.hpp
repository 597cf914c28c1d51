// SPDX-License-Identifier: Apache-2.0
// run_graph: a small graph computed by the reference, node by node as layers.
#pragma once

#include "backend/node_vector.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::test {

/// The graph's outputs in order; nothing for one that its layer leaves out (LayerNormalization's mean). Throws Skip
/// where a node is not a layer or has an attribute that decides its result but not its speed, so that the layer does
/// not know it.
[[nodiscard]] std::vector<std::optional<Numbers>> run_graph(const Graph& graph,
                                                            const std::map<std::string, Numbers>& inputs);

}  // namespace benanza::test
