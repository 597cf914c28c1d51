// SPDX-License-Identifier: Apache-2.0
// Sums over a column of a SampleTable: the calls of a form one after the other, side by side, or with their weights out
// of the caches.
#pragma once

#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/resident.hpp>
#include <benanza/bounds/detail/sample_table.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace benanza::detail {

inline std::vector<double> by_layer(const Column& column, Seconds CallTimes::*which) {
  std::vector<double> result;
  for (const auto& calls : column) {
    Seconds sum{};
    for (const auto& call : calls) sum += call.*which;
    result.push_back(sum.value);
  }
  return result;
}

/// One call after the other.
inline Seconds sequential(const LayerGraph& graph, const Column& column) {
  return total_of(graph, by_layer(column, &CallTimes::time));
}

/// The critical path of each layer's best time. A processor also takes at least the sum of each layer's least work,
/// divided by all threads; the branches of a device overlap, since they use different units.
inline Seconds parallel(const LayerGraph& graph, const Column& column, int threads, bool device) {
  const Seconds path = longest(graph, by_layer(column, &CallTimes::time)).length;
  if (device) return path;
  return std::max(path, total_of(graph, by_layer(column, &CallTimes::work)) / static_cast<double>(threads));
}

/// Share of an occurrence's weights that no earlier occurrence read; they are added to `seen`.
inline double fresh_share(const LayerGraph& graph, const Occurrence& at, std::set<TensorId>& seen) {
  double all = 0, fresh = 0;
  for (const auto& input : at.inputs) {
    if (!input) continue;
    for (const auto& [base, bytes] : graph.tensors[*input].behind) {
      if (!graph.tensors[base].constant) continue;
      all += bytes.value;
      if (seen.insert(base).second) fresh += bytes.value;
    }
  }
  return all > 0 ? fresh / all : 1;
}

/// One call after the other, with at most `caches` bytes of weights in the caches: cached times cannot all be true at
/// once if the weights exceed the caches. A tensor used twice is cold once, and so is one that a loop reads in each
/// pass.
inline Seconds resident(const LayerGraph& graph, const FormPlan& plan, const Column& column, Bytes caches) {
  const auto total = [&](auto&& does_run) {
    std::vector<ResidentCall> calls;
    std::set<TensorId> seen;
    Seconds later{};
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const Occurrence& at = graph.layers[i];
      if (at.repeat == 0 || !does_run(at)) continue;
      const double fresh = fresh_share(graph, at, seen);
      for (std::size_t k = 0; k < column[i].size(); ++k) {
        const auto& [hot, work, cold] = column[i][k];
        calls.push_back({.hot = hot, .cold = cold, .weights = weight_bytes(plan.parts[i][k].layer), .fresh = fresh});
        later += hot * static_cast<double>(at.repeat - 1);
      }
    }
    return resident_total(calls, caches) + later;
  };
  return least_execution(graph, total, std::less<>{});
}

}  // namespace benanza::detail
