// SPDX-License-Identifier: Apache-2.0
#include "branches.hpp"

#include <algorithm>

namespace benanza::analysis {

ResolvedChoices resolve(const LayerGraph& graph, std::span<const double> amounts) {
  ResolvedChoices result{.taken = std::vector<std::size_t>(graph.choices.size(), 0)};
  for (const auto& choice : graph.choices) result.totals.emplace_back(choice.labels.size(), 0.0);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!graph.layers[i].branches.empty()) {
      const Branch& innermost = graph.layers[i].branches.back();
      result.totals[innermost.choice][innermost.branch] += amounts[i];
    }
  for (std::size_t c = graph.choices.size(); c-- > 0;) {  // an enclosed choice always has the higher index
    const auto& totals = result.totals[c];
    result.taken[c] = static_cast<std::size_t>(std::min_element(totals.begin(), totals.end()) - totals.begin());
    if (!graph.choices[c].within.empty()) {
      const Branch& outer = graph.choices[c].within.back();
      result.totals[outer.choice][outer.branch] += totals[result.taken[c]];
    }
  }
  return result;
}

bool runs(const Occurrence& at, const ResolvedChoices& choices) {
  return std::all_of(at.branches.begin(), at.branches.end(),
                     [&](const Branch& b) { return choices.taken[b.choice] == b.branch; });
}

double cheapest_total(const LayerGraph& graph, std::span<const double> amounts) {
  const ResolvedChoices choices = resolve(graph, amounts);
  double total = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (runs(graph.layers[i], choices)) total += amounts[i];
  return total;
}

}  // namespace benanza::analysis
