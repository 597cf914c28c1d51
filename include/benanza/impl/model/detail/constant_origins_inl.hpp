// SPDX-License-Identifier: Apache-2.0
// The constants from which another one is computed.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/constant_origins.hpp>
#include <benanza/model/detail/live_needs.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/make_layer.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::detail {

BENANZA_INLINE std::optional<std::vector<ConstantOrigin>> ConstantOrigins::of(const Graph& graph, ValueId id) {
  const auto [made, is_new] = makers_.try_emplace(&graph);
  for (std::size_t n = 0; is_new && n < graph.constant_nodes.size(); ++n)
    for (std::size_t j = 0; j < graph.constant_nodes[n].outputs.size(); ++j)
      if (const auto output = graph.constant_nodes[n].outputs[j]) made->second[*output] = {n, j};
  const auto maker = made->second.find(id);
  if (maker == made->second.end()) {
    const Value& value = graph.value(id);
    if (value.origins.empty() || value.trained) return std::nullopt;
    std::vector<ConstantOrigin> whole;
    for (const ValueId origin : value.origins) whole.push_back({origin, 1, false});
    return whole;
  }
  const Node& node = graph.constant_nodes[maker->second.first];
  const Layer layer = make_layer(node, graph);
  const SizedNode at{node, graph, layer};
  std::vector<Region> wanted;
  for (std::size_t j = 0; j < node.outputs.size(); ++j) {
    const Dims dims = node.outputs[j] ? graph.value(*node.outputs[j]).dims : Dims{};
    wanted.push_back(j == maker->second.second ? Region::whole(dims) : Region(dims));
  }
  const Needs needs = needs_of(at, node.has_input(0) ? std::optional(needs_rule(at)) : std::nullopt, wanted);
  std::vector<ConstantOrigin> origins;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    if (!node.inputs[k]) continue;
    const Value& operand = graph.value(*node.inputs[k]);
    const bool is_index = k == 1 && node.op_type.starts_with("Gather") && read_positions(at) > 0;
    if (operand.type != DataType::i64 || !operand.literal || is_index)
      origins.push_back({*node.inputs[k], needs.inputs[k].share()});
  }
  return origins;
}

}  // namespace benanza::detail
