// SPDX-License-Identifier: Apache-2.0
// make_layer_graph: the LayerGraph of a model in single form. Bodies of If, Loop and Scan are flattened into it: a
// loop's layers carry its trip count, a branch's layers the choice that they belong to.
#pragma once

#include <benanza/detail/compiled.hpp>
#include <benanza/model/critical_path.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// Single form.
[[nodiscard]] LayerGraph make_layer_graph(const Graph& graph);

/// The arithmetic of layers that none of the outputs needs, grouped by the readers of only a part; largest first.
[[nodiscard]] inline std::vector<DeadWork> dead_work(std::span<const Occurrence> layers) {
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

#ifndef BENANZA_COMPILED_FUSION
#include <benanza/model/detail/layer_graph_builder.hpp>
#endif
