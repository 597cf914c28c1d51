// SPDX-License-Identifier: Apache-2.0
// collapse: writes operands that broadcast to one result with as few dimensions as possible, so that equal work has one
// spelling: 1x64x56x56 and 1x64x1x1 become 64x3136 and 64x1.
#pragma once

#include <benanza/model/tensor_shape.hpp>

#include <cstdint>
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
[[nodiscard]] inline std::vector<Dims> collapse(const std::vector<Dims>& operands) {
  std::size_t rank = 0;
  for (const auto& dims : operands) rank = std::max(rank, dims.size());
  std::vector<Dims> aligned, result(operands.size());
  aligned.reserve(operands.size());
  for (const auto& dims : operands) aligned.push_back(padded(dims, rank));

  std::vector<bool> last;  // which operands broadcast along the latest dimension
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::int64_t size = 1;
    for (const auto& dims : aligned)
      if (dims[axis] != 1) size = dims[axis];
    if (size == 1) continue;
    std::vector<bool> broadcasts;
    broadcasts.reserve(aligned.size());
    for (const auto& dims : aligned) broadcasts.push_back(dims[axis] == 1);
    const bool folds = broadcasts == last;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (folds) result[i].back() = checked_product(result[i].back(), aligned[i][axis]);
      else result[i].push_back(aligned[i][axis]);
    }
    last = broadcasts;
  }
  for (auto& dims : result)
    if (dims.empty()) dims.push_back(1);
  return result;
}

/// The same for shapes.
[[nodiscard]] inline std::vector<TensorShape> collapse(const std::vector<TensorShape>& shapes) {
  std::vector<Dims> operands;
  operands.reserve(shapes.size());
  for (const auto& shape : shapes) operands.emplace_back(shape.begin(), shape.end());
  std::vector<TensorShape> result;
  for (const auto& dims : collapse(operands)) result.emplace_back(std::span<const std::int64_t>(dims));
  return result;
}

}  // namespace benanza::detail
