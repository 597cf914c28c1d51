// SPDX-License-Identifier: Apache-2.0
// From a graph to its layers: LayerGraphBuilder, whose long members are in the files beside this one.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/layer_graph_builder.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_graph.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

BENANZA_INLINE LayerGraph make_layer_graph(const Graph& graph) {
  LayerGraph result = detail::LayerGraphBuilder{}.build(graph);
  result.dead = dead_work(result.layers);
  return result;
}

BENANZA_INLINE std::vector<DeadWork> dead_work(std::span<const Occurrence> layers) {
  std::map<std::vector<std::string>, DeadWork> by_readers;
  for (const auto& at : layers) {
    const Flops dead = (cost(at.layer).flops - at.absorbed - at.needed.flops) * static_cast<double>(at.repeat);
    if (dead.value <= 0 || at.live.conditional || (at.live.readers.empty() && at.live.flops > 0))
      continue;  // work on copies or zeros is less, not dead; and what data leave out may be needed
    DeadWork& work = by_readers[at.live.readers];
    work.readers = at.live.readers;
    work.nodes.insert(work.nodes.end(), at.nodes.begin(), at.nodes.end());
    work.flops += dead;
  }
  std::vector<DeadWork> result;
  for (auto& [readers, work] : by_readers) result.push_back(std::move(work));
  std::stable_sort(result.begin(), result.end(),
                   [](const DeadWork& a, const DeadWork& b) { return a.flops > b.flops; });
  return result;
}

}  // namespace benanza
