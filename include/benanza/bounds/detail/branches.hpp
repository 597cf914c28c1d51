// SPDX-License-Identifier: Apache-2.0
// Branches of If nodes: which of them run in the cheapest execution.
#pragma once

#include <benanza/model/critical_path.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace benanza::detail {

/// For each choice the branch with the least total, and the totals of all its branches (enclosed choices resolved
/// first).
struct ResolvedChoices {
  std::vector<std::size_t> taken{};
  std::vector<std::vector<double>> totals{};
};

[[nodiscard]] ResolvedChoices resolve(const LayerGraph& graph, std::span<const double> amounts);
/// Whether an occurrence runs if those branches are taken.
[[nodiscard]] bool runs(const Occurrence& at, const ResolvedChoices& choices);
/// Sum over the occurrences that run in the cheapest execution.
[[nodiscard]] double cheapest_total(const LayerGraph& graph, std::span<const double> amounts);

inline ResolvedChoices resolve(const LayerGraph& graph, std::span<const double> amounts) {
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

inline bool runs(const Occurrence& at, const ResolvedChoices& choices) {
  return std::all_of(at.branches.begin(), at.branches.end(),
                     [&](const Branch& b) { return choices.taken[b.choice] == b.branch; });
}

inline double cheapest_total(const LayerGraph& graph, std::span<const double> amounts) {
  const ResolvedChoices choices = resolve(graph, amounts);
  double total = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (runs(graph.layers[i], choices)) total += amounts[i];
  return total;
}

/// Each amount as often as its layer runs, in the cheapest execution.
inline Seconds total_of(const LayerGraph& graph, std::vector<double> amounts) {
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] *= static_cast<double>(graph.layers[i].repeat);
  return {cheapest_total(graph, amounts)};
}

/// Every way to take the branches of a graph; empty if there are too many.
inline std::vector<ResolvedChoices> executions(const LayerGraph& graph) {
  constexpr std::size_t most = 256;
  std::size_t count = 1;
  for (const auto& choice : graph.choices) count = std::min(most + 1, count * choice.labels.size());
  std::vector<ResolvedChoices> result;
  for (std::size_t e = 0; count <= most && e < count; ++e) {
    ResolvedChoices execution;
    for (std::size_t rest = e; const auto& choice : graph.choices) {
      execution.taken.push_back(rest % choice.labels.size());
      rest /= choice.labels.size();
    }
    result.push_back(std::move(execution));
  }
  return result;
}

/// The least `value` over the executions, by `less`. If there are too many, layers in branches do not run.
template <class Value, class Less>
auto least_execution(const LayerGraph& graph, Value value, Less less) {
  const auto all = executions(graph);
  if (all.empty()) return value([](const Occurrence& at) { return at.branches.empty(); });
  const auto of = [&](const ResolvedChoices& taken) {
    return value([&](const Occurrence& at) { return runs(at, taken); });
  };
  auto least = of(all.front());
  for (std::size_t e = 1; e < all.size(); ++e)
    if (auto next = of(all[e]); less(next, least)) least = std::move(next);
  return least;
}

/// Longest chain of the layers that run; loops count their carried part in sequence. A branch of less work may have the
/// longer chain, so all executions are tried and the one with the shortest path counts.
inline CriticalPath longest(const LayerGraph& graph, std::span<const double> amounts) {
  const auto path = [&](auto&& does_run) {
    std::vector<Seconds> times(amounts.size());
    std::vector<std::span<const Predecessor>> edges(amounts.size());
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const Occurrence& at = graph.layers[i];
      if (at.repeat == 0 || !does_run(at)) continue;
      times[i] = {amounts[i] * static_cast<double>(at.serial_repeat)};
      edges[i] = at.predecessors;
    }
    return critical_path(times, edges);
  };
  return least_execution(graph, path, [](const CriticalPath& a, const CriticalPath& b) { return a.length < b.length; });
}

}  // namespace benanza::detail
