// SPDX-License-Identifier: Apache-2.0
// run_graph: computes a small graph as `benanza run` does, with the reference alone.
#pragma once

#include "backend/node_vector.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::test {

/// The outputs, in order, of a graph that was imported to be executed; an output is empty if its layer leaves it out
/// (LayerNormalization's mean). Throws Skip with the reason if a node is refused.
[[nodiscard]] std::vector<std::optional<Numbers>> run_graph(const Graph& graph,
                                                            const std::map<std::string, Numbers>& inputs);

}  // namespace benanza::test
