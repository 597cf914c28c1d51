// SPDX-License-Identifier: Apache-2.0
// Constant folding: evaluates the operators that exporters use for shape arithmetic, on small tensors.
#pragma once

#include "tensor.hpp"
#include <benanza/model/graph.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace benanza::importer {

/// The input of an evaluation: the node, its inputs (nullptr if an optional one is left out), and the only tensor
/// attribute of ConstantOfShape.
struct FoldArguments {
  const Node& node;
  std::span<const Tensor* const> inputs;
  const Tensor* value = nullptr;

  [[nodiscard]] bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  /// Input `i`; throws InputError if it is left out.
  [[nodiscard]] const Tensor& in(std::size_t i) const {
    if (!has(i)) throw InputError("input " + std::to_string(i) + " is missing");
    return *inputs[i];
  }
};

/// Empty if the case is not worth evaluating (an unusual type, too large a result). The node then stays unchanged.
using FoldResult = std::optional<std::vector<Tensor>>;
using Fold = FoldResult (*)(const FoldArguments&);

/// The function that evaluates `op_type`, which is prefixed with its domain unless that is ai.onnx. Null if there is
/// none.
[[nodiscard]] Fold find_fold(std::string_view op_type);

struct FoldEntry {
  std::string_view op_type;
  Fold fold;
};
/// The parts of the table.
[[nodiscard]] std::span<const FoldEntry> elementwise_folds();
[[nodiscard]] std::span<const FoldEntry> movement_folds();
[[nodiscard]] std::span<const FoldEntry> search_folds();

/// Whether the elements of `dims` are few enough to compute.
[[nodiscard]] inline bool small_enough(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const auto dim : dims) {
    if (dim < 0) return false;
    if (dim == 0) return true;
    if (dim > folded_elements || (count *= dim) > folded_elements) return false;
  }
  return true;
}

/// `axis` counted from the front; throws InputError if it is outside [-rank, rank).
[[nodiscard]] inline std::size_t normal_axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    throw InputError("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

/// The integers of an optional input, or of the attribute that older operator sets have instead.
[[nodiscard]] inline std::optional<std::vector<std::int64_t>> ints_of(const FoldArguments& a, std::size_t input,
                                                                      std::string_view attribute) {
  if (a.has(input)) return a.in(input).data.ints;
  if (a.node.attributes.contains(attribute)) return a.node.attribute<std::vector<std::int64_t>>(attribute, {});
  return std::nullopt;
}

/// The result of a Slice: its dimensions, and along each axis of x the first element and the step.
struct SliceBounds {
  std::vector<std::int64_t> dims{}, first{}, step{};
};

/// ONNX Slice: a forward slice starts and ends in [0, size], a backward one starts in [0, size - 1] and ends in
/// [-1, size - 1]. Throws InputError if the lists do not fit together.
[[nodiscard]] SliceBounds slice_bounds(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& starts,
                                       const std::vector<std::int64_t>& ends,
                                       std::optional<std::vector<std::int64_t>> axes,
                                       const std::optional<std::vector<std::int64_t>>& steps);

}  // namespace benanza::importer
