// SPDX-License-Identifier: Apache-2.0
// What is needed of the tensors in a sequence if a node takes one of them.
#pragma once

#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// The number of tensors in a sequence, and whether an optional tensor is present, are known before any of their
/// elements.
[[nodiscard]] inline bool asks_for_no_element(const Node& node) {
  return node.domain.empty() && (node.op_type == "SequenceLength" || node.op_type == "OptionalHasElement");
}

/// Where the parts of a SplitToSequence end. Empty if it is not known.
[[nodiscard]] inline std::vector<std::int64_t> ends_of_parts(const Graph& graph, const Node& node, std::int64_t size) {
  std::vector<std::int64_t> ends;
  const auto split = given_ints(node, graph, "split", 1);
  if (!split.known) return ends;
  if (split.given && !graph.input(node, 1).dims.empty()) {
    for (const auto part : split.values) ends.push_back(part + (ends.empty() ? 0 : ends.back()));
    return ends;
  }
  const std::int64_t part = split.given && !split.values.empty() ? split.values[0] : 1;
  while (part > 0 && (ends.empty() ? 0 : ends.back()) < size)
    ends.push_back(std::min(size, part + (ends.empty() ? 0 : ends.back())));
  return ends;
}

/// What a SequenceAt needs if its index is known and `part` of its result is needed: a part of a tensor that a
/// SequenceConstruct collects, or of one that a SplitToSequence splits.
[[nodiscard]] inline std::optional<std::pair<ValueId, Region>> taken_from_sequence(const Graph& graph, const Node& node,
                                                                                   const Region& part) {
  if (!node.domain.empty() || node.op_type != "SequenceAt" || !node.has_input(0) || !node.has_input(1))
    return std::nullopt;
  const auto place = scalar(graph.input(node, 1));
  const auto maker = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&node](const Node& other) {
    return other.has_output(0) && other.outputs[0] == node.inputs[0];
  });
  if (!place || maker == graph.nodes.end() || !maker->domain.empty() || !maker->has_input(0)) return std::nullopt;
  const auto index_of = [&place](std::size_t count) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(*place) +
                                    (*place < 0 ? static_cast<std::int64_t>(count) : 0));
  };
  if (maker->op_type == "SequenceConstruct") {
    const std::size_t index = index_of(maker->inputs.size());
    if (!maker->has_input(index)) return std::nullopt;
    const Dims& dims = graph.value(*maker->inputs[index]).dims;
    return std::pair{*maker->inputs[index], part.dims() == dims ? part : Region::whole(dims)};
  }
  const Value& x = graph.input(*maker, 0);
  const auto axis = to_axis(maker->attribute<std::int64_t>("axis", 0), x.dims.size());
  if (maker->op_type != "SplitToSequence" || !axis || x.data_dependent) return std::nullopt;
  const auto ends = ends_of_parts(graph, *maker, x.dims[*axis]);
  const std::size_t index = index_of(ends.size());
  if (index >= ends.size()) return std::nullopt;
  Box box = whole_box(x.dims);
  box[*axis] = Positions::run(index == 0 ? 0 : ends[index - 1], ends[index]);
  Region region(x.dims);
  region.add(std::move(box));
  return std::pair{*maker->inputs[0], std::move(region)};
}

}  // namespace benanza::detail
