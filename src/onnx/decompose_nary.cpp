// SPDX-License-Identifier: Apache-2.0
// Sum, Mean, Max and Min of tensors that are broadcast to each other. An Nary layer reads all of its operands in one
// shape. If the shapes differ, two operands are combined at a time.
#include "decompose.hpp"
#include "parts.hpp"
#include "rules.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace benanza::importer {

bool append_nary_parts(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  const std::string_view type = node.op_type;
  const bool mean = type == "Mean";
  if (!node.domain.empty() || !(mean || type == "Sum" || type == "Max" || type == "Min")) return false;
  if (node.inputs.size() < (mean ? 2 : 3) || !node.has_output(0)) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.has_input(i)) return false;
  const Value result = graph.output(node, 0);
  const auto is_whole = [&](const auto& id) { return graph.value(*id).dims == result.dims; };
  if (std::all_of(node.inputs.begin(), node.inputs.end(), is_whole)) return false;

  std::vector<std::size_t> order(node.inputs.size());  // the smallest first, so that few results are large
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return graph.input(node, a).elements() < graph.input(node, b).elements();
  });
  Parts parts(graph, node);
  ValueId joined = *node.inputs[order[0]];
  for (std::size_t i = 1; i < order.size(); ++i) {
    const ValueId next = *node.inputs[order[i]];
    const Integers dims = broadcast_shapes(parts.value(joined).dims, parts.value(next).dims);
    joined = parts.put(mean || type == "Sum" ? "Add" : node.op_type, {joined, next}, dims, {}, result.type);
  }
  if (mean) {
    const ValueId factor =
        parts.constant({}, {.ints = {}, .floats = {1.0 / static_cast<double>(order.size())}}, result.type);
    joined = parts.put("Mul", {joined, factor}, result.dims, {}, result.type);
  }
  parts.give(joined, 0);
  parts.append_to(nodes);
  return true;
}

}  // namespace benanza::importer
