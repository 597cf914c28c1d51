// SPDX-License-Identifier: Apache-2.0
// collapse: writes operands that broadcast to one result with as few dimensions as possible, so that equal work has one
// spelling: 1x64x56x56 and 1x64x1x1 become 64x3136 and 64x1.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace benanza::detail {

using Dims = std::vector<std::int64_t>;

/// `dims` with leading ones added up to `rank`.
[[nodiscard]] inline Dims padded(std::span<const std::int64_t> dims, std::size_t rank) {
  Dims result(rank > dims.size() ? rank - dims.size() : 0, 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

/// All operands at one rank of at least 1. Drops dimensions in which every operand has size 1, and folds adjacent
/// dimensions along which the same operands broadcast. The operands must broadcast to each other.
template <class Shape>
[[nodiscard]] std::vector<Shape> collapse(const std::vector<Shape>& operands) {
  std::size_t rank = 0;
  for (const auto& dims : operands) rank = std::max(rank, dims.size());
  const auto dim = [rank](const Shape& dims, std::size_t axis) {
    return axis + dims.size() < rank ? 1 : dims[axis + dims.size() - rank];
  };
  std::vector<Shape> result(operands.size());
  std::optional<std::size_t> last;  // the latest dimension in which not every operand has size 1
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto is_one = [&](const Shape& dims) { return dim(dims, axis) == 1; };
    if (std::all_of(operands.begin(), operands.end(), is_one)) continue;
    const bool folds = last && std::all_of(operands.begin(), operands.end(),
                                           [&](const Shape& dims) { return is_one(dims) == (dim(dims, *last) == 1); });
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::int64_t size = dim(operands[i], axis);
      if (folds) result[i][result[i].size() - 1] = checked_product(result[i].back(), size);
      else result[i].push_back(size);
    }
    last = axis;
  }
  for (auto& dims : result)
    if (dims.empty()) dims.push_back(1);
  return result;
}

}  // namespace benanza::detail
