// SPDX-License-Identifier: Apache-2.0
// Shared by the `from` functions of operators: reading a node's shapes, axes and numbers. The result is `nullopt` if
// something is absent or does not fit into a layer. The node is then left to the next operator, and finally to Opaque.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::detail {

/// "Conv"; "com.microsoft.QLinearAdd" for domains other than ONNX's own.
[[nodiscard]] inline std::string onnx_type(const Node& node) {
  return node.domain.empty() || node.domain == "ai.onnx" ? node.op_type : node.domain + "." + node.op_type;
}

/// Input `i`, or null if it is left out.
[[nodiscard]] inline const Value* optional_input(const Node& node, const Graph& graph, std::size_t i) {
  return node.has_input(i) ? &graph.value(*node.inputs[i]) : nullptr;
}
/// Whether two inputs are one tensor.
[[nodiscard]] inline bool is_same_input(const Node& node, std::size_t i, std::size_t j) {
  return node.has_input(i) && node.has_input(j) && *node.inputs[i] == *node.inputs[j];
}

/// Empty for ranks above 8.
[[nodiscard]] inline std::optional<TensorShape> to_shape(std::span<const std::int64_t> dims) {
  if (dims.size() > TensorShape::capacity) return std::nullopt;
  return TensorShape(dims);
}
[[nodiscard]] inline std::int64_t product(std::span<const std::int64_t> dims, std::size_t from, std::size_t to) {
  return element_count(dims.subspan(from, to - from));
}
/// Three dimensions: those before the axis folded, the axis, and those after it folded.
[[nodiscard]] inline TensorShape around(std::span<const std::int64_t> dims, std::size_t axis) {
  return {product(dims, 0, axis), dims[axis], product(dims, axis + 1, dims.size())};
}
/// Batch, channels, and all spatial dimensions folded. Empty for ranks below 2.
[[nodiscard]] inline std::optional<TensorShape> batch_channels_inner(std::span<const std::int64_t> dims) {
  if (dims.size() < 2) return std::nullopt;
  return around(dims, 1);
}

/// An ONNX axis, counted from the end if negative. Empty if it is out of range.
[[nodiscard]] inline std::optional<std::size_t> to_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

/// Integers that are attribute `key` of a node in older operator sets, and input `i` in newer ones.
struct GivenInts {
  bool given = false;
  bool known = true;  ///< false for an input that is computed at run time
  Dims values{};
};
[[nodiscard]] inline GivenInts given_ints(const Node& node, const Graph& graph, std::string_view key, std::size_t i) {
  if (node.attributes.contains(key)) return {.given = true, .values = node.attribute<Dims>(key, {})};
  const Value* value = optional_input(node, graph, i);
  if (!value) return {};
  if (!value->literal) return {.given = true, .known = false};
  return {.given = true, .values = value->literal->ints};
}

/// The number in a constant with one element, if it is known.
[[nodiscard]] inline std::optional<double> scalar(const Value& value) {
  if (!value.literal || value.elements() != 1) return std::nullopt;
  if (!value.literal->floats.empty()) return value.literal->floats[0];
  if (!value.literal->ints.empty()) return static_cast<double>(value.literal->ints[0]);
  return std::nullopt;
}

/// ONNX's float attributes have 32 bits: 0.1 arrives as 0.10000000149. Returns the shortest decimal that denotes the
/// same float.
[[nodiscard]] inline double decimal(double number) {
  const auto narrow = static_cast<float>(number);
  if (!std::isfinite(number) || static_cast<double>(narrow) != number) return number;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, narrow).ptr;
  std::from_chars(digits, end, number);
  return number == 0 ? 0 : number;
}

/// Whether input `i`, the zero point of a quantised tensor, may differ from 0: it is computed at run time, differs, or
/// is a single number that is not known. A list per channel whose numbers are not known counts as 0: every quantiser
/// produces such weights.
[[nodiscard]] inline bool has_zero_point(const Node& node, const Graph& graph, std::size_t i) {
  const Value* zero_point = optional_input(node, graph, i);
  if (!zero_point) return false;
  if (!zero_point->constant) return true;
  if (!zero_point->literal) return zero_point->elements() == 1;
  const auto& numbers = zero_point->literal->ints;
  return std::any_of(numbers.begin(), numbers.end(), [](auto number) { return number != 0; });
}

/// The type if it differs from the layer's own, otherwise empty.
[[nodiscard]] inline std::optional<DataType> if_other(DataType type, DataType own) {
  return type == own ? std::nullopt : std::optional(type);
}

}  // namespace benanza::detail
