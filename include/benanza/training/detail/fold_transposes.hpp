// SPDX-License-Identifier: Apache-2.0
// fold_transposes: a product with a transposed weight reads the original weight and transposes it itself: no engine
// moves it.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::training {

/// A MatMul whose second operand is a transposed constant matrix becomes com.microsoft's FusedMatMul. Transposes that
/// no node reads any more are removed.
inline void fold_transposes(Graph& graph) {
  std::map<ValueId, ValueId> matrix_of;  // result of a Transpose -> its operand
  for (const Node& node : graph.nodes)
    if (node.domain.empty() && node.op_type == "Transpose" && node.has_input(0) && node.has_output(0) &&
        graph.value(*node.inputs[0]).constant && graph.value(*node.inputs[0]).dims.size() == 2 &&
        node.attribute<std::vector<std::int64_t>>("perm", {1, 0}) == std::vector<std::int64_t>{1, 0})
      matrix_of.emplace(*node.outputs[0], *node.inputs[0]);
  if (matrix_of.empty()) return;
  for (Node& node : graph.nodes) {
    if (!node.domain.empty() || node.op_type != "MatMul" || !node.has_input(1)) continue;
    const auto found = matrix_of.find(*node.inputs[1]);
    if (found == matrix_of.end() || graph.value(*node.inputs[0]).dims.size() < 2) continue;
    node.inputs[1] = found->second;
    node.domain = "com.microsoft";
    node.op_type = "FusedMatMul";
    node.opset = 1;
    node.attributes["transB"] = std::int64_t{1};
  }
  std::vector<bool> read(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const auto& input : node.inputs)
      if (input) read[*input] = true;
    for (const Body& body : node.bodies)
      for (const auto& [inner, outer] : body.graph.captures) read[outer] = true;
  }
  for (const ValueId id : graph.outputs) read[id] = true;
  std::erase_if(graph.nodes, [&](const Node& node) {
    return node.has_output(0) && matrix_of.contains(*node.outputs[0]) && !read[*node.outputs[0]];
  });
}

}  // namespace benanza::training
