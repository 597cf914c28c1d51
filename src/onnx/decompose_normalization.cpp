// SPDX-License-Identifier: Apache-2.0
// GroupNormalization before operator set 21, whose scale and bias have one number for each group: an instance
// normalization of tensors in which a group is one channel.
#include "decompose.hpp"
#include "parts.hpp"

#include <utility>

namespace benanza::importer {

bool append_normalization_parts(Graph& graph, const Node& node, std::vector<Node>& nodes) {
  if (!node.domain.empty() || node.op_type != "GroupNormalization" || node.opset >= 21) return false;
  for (const std::size_t i : {0, 1, 2})
    if (!node.has_input(i)) return false;
  const Value x = graph.input(node, 0);
  const auto groups = node.attribute<std::int64_t>("num_groups", 0);
  if (x.dims.size() < 2 || groups < 1 || x.dims[0] < 1 || x.dims[1] % groups != 0 || !node.has_output(0)) return false;
  if (graph.input(node, 1).dims != Integers{groups} || graph.input(node, 2).dims != Integers{groups}) return false;
  Parts parts(graph, node);
  const auto shape = [&](const Integers& dims) {
    return parts.constant({count(dims)}, {.ints = dims, .floats = {}}, DataType::i64);
  };
  const Integers grouped{x.dims[0], groups, x.elements() / x.dims[0] / groups};
  const ValueId as_channels = parts.put("Reshape", {*node.inputs[0], shape(grouped)}, grouped, {}, x.type);
  Attributes attributes;
  if (const auto epsilon = node.attributes.find("epsilon"); epsilon != node.attributes.end())
    attributes.insert(*epsilon);
  const ValueId normal = parts.put("InstanceNormalization", {as_channels, *node.inputs[1], *node.inputs[2]}, grouped,
                                   std::move(attributes), x.type);
  parts.give(parts.put("Reshape", {normal, shape(x.dims)}, x.dims, {}, x.type), 0);
  parts.append_to(nodes);
  return true;
}

}  // namespace benanza::importer
