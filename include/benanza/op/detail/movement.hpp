// SPDX-License-Identifier: Apache-2.0
// Movement: Transpose, DepthToSpace and SpaceToDepth as one permutation in its shortest form.
#pragma once

#include <benanza/base/detail/node.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza::detail {

/// Dimensions of the input, and for each axis i of the output the axis of the input. Dimensions of 1 are dropped, and
/// axes that stay adjacent are folded: a node that moves nothing has at most one axis.
struct Movement {
  Dims dims{};
  std::vector<std::size_t> perm{};
};

[[nodiscard]] inline Movement fold_movement(const Movement& movement) {
  std::vector<std::size_t> order;  // input axes in the output's order, without dimensions of 1
  for (auto axis : movement.perm)
    if (movement.dims[axis] != 1) order.push_back(axis);
  std::vector<std::size_t> next(movement.dims.size());  // the next input axis that is not dropped
  for (std::size_t axis = movement.dims.size(), follower = axis; axis-- > 0;) {
    next[axis] = follower;
    if (movement.dims[axis] != 1) follower = axis;
  }
  struct Group {
    std::size_t first;
    std::int64_t size;
  };
  std::vector<Group> groups;  // in the output's order
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && next[order[i - 1]] == order[i])
      groups.back().size = checked_product(groups.back().size, movement.dims[order[i]]);
    else groups.push_back({order[i], movement.dims[order[i]]});
  }
  Movement result;
  std::vector<Group> sorted = groups;
  std::sort(sorted.begin(), sorted.end(), [](const Group& a, const Group& b) { return a.first < b.first; });
  for (const auto& group : sorted) result.dims.push_back(group.size);
  for (const auto& group : groups)
    result.perm.push_back(static_cast<std::size_t>(
        std::find_if(sorted.begin(), sorted.end(), [&](const Group& g) { return g.first == group.first; }) -
        sorted.begin()));
  return result;
}

/// The movement of a Transpose, DepthToSpace or SpaceToDepth node. Empty if its attributes do not fit its input.
[[nodiscard]] inline std::optional<Movement> movement(const Node& node, const Graph& graph) {
  const Dims& x = graph.input(node, 0).dims;
  Movement result{.dims = x};
  if (node.op_type == "Transpose") {
    Dims perm = node.attribute<Dims>("perm", {});
    if (perm.empty())
      for (std::size_t i = x.size(); i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
    std::vector<bool> seen(x.size());
    for (auto entry : perm) {
      const auto axis = to_axis(entry, x.size());
      if (!axis || seen[*axis]) return std::nullopt;
      seen[*axis] = true;
      result.perm.push_back(*axis);
    }
    if (perm.size() != x.size()) return std::nullopt;
    return fold_movement(result);
  }
  const std::int64_t block = node.attribute<std::int64_t>("blocksize", 0);
  const bool by_column_row = node.attribute<std::string>("mode", "DCR") == "CRD";
  if (x.size() != 4 || block < 1 || block > 1 << 15) return std::nullopt;
  if (node.op_type == "DepthToSpace") {  // ONNX DepthToSpace: reshape to six dimensions, permute
    if (x[1] % (block * block) != 0) return std::nullopt;
    const std::int64_t depth = x[1] / (block * block);
    if (by_column_row) return fold_movement({{x[0], depth, block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3}});
    return fold_movement({{x[0], block, block, depth, x[2], x[3]}, {0, 3, 4, 1, 5, 2}});
  }
  if (x[2] % block != 0 || x[3] % block != 0) return std::nullopt;
  const Dims split{x[0], x[1], x[2] / block, block, x[3] / block, block};
  if (by_column_row) return fold_movement({split, {0, 1, 3, 5, 2, 4}});
  return fold_movement({split, {0, 3, 5, 1, 2, 4}});
}

}  // namespace benanza::detail
