// SPDX-License-Identifier: Apache-2.0
// Branches of If nodes: which of them run in the cheapest execution.
#pragma once

#include <benanza/model/layer_graph.hpp>

#include <span>
#include <vector>

namespace benanza::analysis {

/// For each choice the branch of least total, and the totals of all its branches (enclosed choices resolved first).
struct ResolvedChoices {
  std::vector<std::size_t> taken{};
  std::vector<std::vector<double>> totals{};
};

[[nodiscard]] ResolvedChoices resolve(const LayerGraph& graph, std::span<const double> amounts);
/// Whether an occurrence runs when those branches are taken.
[[nodiscard]] bool runs(const Occurrence& at, const ResolvedChoices& choices);
/// Sum over the occurrences that run in the cheapest execution.
[[nodiscard]] double cheapest_total(const LayerGraph& graph, std::span<const double> amounts);

}  // namespace benanza::analysis
