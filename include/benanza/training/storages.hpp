// SPDX-License-Identifier: Apache-2.0
// Storages: the memory that each value of a graph lies in.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace benanza {

/// What a view or a movement of elements makes lies where its operand does, since whoever reads it can read through.
class Storages {
 public:
  explicit Storages(const Graph& graph) : of_(graph.values.size()) {
    std::iota(of_.begin(), of_.end(), ValueId{0});
    for (const Node& node : graph.nodes) {
      if (!node.has_input(0) || !reads_through(node, graph)) continue;
      for (const auto& output : node.outputs)
        if (output) of_[*output] = of_[*node.inputs[0]];
    }
  }
  [[nodiscard]] ValueId of(ValueId id) const { return of_[id]; }
  [[nodiscard]] std::size_t size() const { return of_.size(); }

 private:
  [[nodiscard]] static bool reads_through(const Node& node, const Graph& graph) {
    constexpr std::array<std::string_view, 5> views{"Transpose", "Slice", "Split", "Expand", "Reshape"};
    if (!node.bodies.empty() || !node.domain.empty()) return false;
    if (std::find(views.begin(), views.end(), node.op_type) != views.end()) return true;
    return is_free(make_layer(node, graph));
  }
  std::vector<ValueId> of_;
};

}  // namespace benanza
