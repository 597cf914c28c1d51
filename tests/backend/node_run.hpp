// SPDX-License-Identifier: Apache-2.0
// run_graph: a small graph computed as `benanza run` does, by the reference alone.
#pragma once

#include "backend/node_vector.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::test {

/// The outputs, in order, of a graph that was imported to be executed; nothing for one that its layer leaves out
/// (LayerNormalization's mean). Throws Skip with the reason where a node is refused.
[[nodiscard]] std::vector<std::optional<Numbers>> run_graph(const Graph& graph,
                                                            const std::map<std::string, Numbers>& inputs);

}  // namespace benanza::test
