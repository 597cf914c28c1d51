// SPDX-License-Identifier: Apache-2.0
// What the passes of a loop compute from constants and their own number: tables that can be made before a request.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/known_elements.hpp>
#include <benanza/model/detail/live_needs.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::detail {

/// The number of passes in which the results of this node follow only from constants and the number of the pass. 0 if
/// they do not.
[[nodiscard]] inline double passes_ahead(const Graph& graph, const Node& node,
                                         const std::vector<KnownElements>& known) {
  double passes = 0;
  for (const auto& input : node.inputs) {
    if (!input) continue;
    if (known[*input].passes == 0 && !graph.value(*input).constant) return 0;
    passes = std::max(passes, known[*input].passes);
  }
  const bool has_size = std::none_of(node.outputs.begin(), node.outputs.end(), [&graph](const auto& output) {
    return output && graph.value(*output).data_dependent;
  });
  // Opaque layers may draw random numbers, and so may a Dropout.
  if (passes == 0 || !has_size || !node.bodies.empty() || node.op_type == "Dropout" ||
      is_opaque(make_layer(node, graph)))
    return 0;
  return passes;
}

/// Needs of the operands of such a node, in place of `needs`. Single numbers are not needed: a program has them in its
/// code. If the results for all passes are smaller than a constant that the node reads, they are stored instead: as
/// many bytes of that constant count, and nothing else.
inline void read_ahead(const SizedNode& at, double passes, Needs& needs) {
  needs.flops = 0;
  double table = 0;
  for (std::size_t j = 0; j < at.node.outputs.size(); ++j)
    if (at.node.has_output(j)) table += passes * at.graph.output(at.node, j).bytes();
  std::optional<std::size_t> replaced;
  double most = table;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k) {
    const Value* value = optional_input(at.node, at.graph, k);
    if (!value || !value->constant) continue;
    if (value->elements() == 1) needs.inputs[k] = Region(at.x(k));
    if (value->bytes() <= most) continue;
    replaced = k;
    most = value->bytes();
  }
  if (!replaced) return;
  for (std::size_t k = 0; k < at.node.inputs.size(); ++k)
    if (at.node.has_input(k) && k != *replaced) needs.inputs[k] = Region(at.x(k));
  needs.inputs[*replaced].limit(table * 8 / bits(at.graph.input(at.node, *replaced).type), {});
}

}  // namespace benanza::detail
