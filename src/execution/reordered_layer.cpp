// SPDX-License-Identifier: Apache-2.0
#include "reordered_layer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace benanza::execution {

namespace {

/// A dimension of a tensor in memory: a part of dimension `of` of the layer's tensor.
struct MemoryDimension {
  std::int64_t extent = 1, stride = 1;  ///< `stride`: in the row-major tensor
  std::size_t of = 0;
};

std::vector<std::int64_t> row_major_strides(const TensorShape& x) {
  std::vector<std::int64_t> strides(x.size(), 1);
  for (std::size_t i = x.size(); i-- > 1;) strides[i - 1] = strides[i] * x[i];
  return strides;
}

/// The dimensions of a tensor of shape `x` in memory, the slowest first; none if the order does not fit the shape.
std::vector<MemoryDimension> dimensions_in_memory(const TensorShape& x, const ElementOrder& order) {
  const auto strides = row_major_strides(x);
  const std::vector<std::int64_t> cuts(strides.rbegin(), strides.rend());
  const std::vector<OrderDigit> row_major{{element_count(x), 1}};
  const auto digits = detail::cut_digits(order.is_row_major() ? row_major : order.digits(), cuts);
  if (!digits) return {};
  std::vector<MemoryDimension> dimensions;
  std::int64_t elements = 1;
  for (const auto& [extent, stride] : *digits) {
    std::size_t of = 0;
    while (of + 1 < x.size() && strides[of] > stride) ++of;
    dimensions.push_back({extent, stride, of});
    elements *= extent;
  }
  if (dimensions.size() > TensorShape::capacity || elements != element_count(x)) return {};
  return dimensions;
}

/// Whether a tensor that has only these dimensions is row-major.
bool descends(std::span<const MemoryDimension> dimensions) {
  return std::is_sorted(dimensions.begin(), dimensions.end(),
                        [](const auto& a, const auto& b) { return a.stride > b.stride; });
}

std::optional<ReorderedLayer> reordered(const op::Binary& binary, const ElementOrder& order) {
  const auto takes_another = [](const PostOp& op) { return is_binary(op.fn); };
  const bool is_whole_a = binary.a == binary.y(), is_whole_b = binary.b == binary.y();
  if (is_whole_a == is_whole_b || binary.same || binary.scaled ||
      std::any_of(binary.post.begin(), binary.post.end(), takes_another))
    return std::nullopt;
  const TensorShape& small = is_whole_a ? binary.b : binary.a;
  const auto dimensions = dimensions_in_memory(binary.y(), order);
  TensorShape whole, broadcast;
  std::vector<MemoryDimension> kept;
  for (const auto& one : dimensions) {
    const bool is_kept = small[one.of] != 1;
    whole.push_back(one.extent);
    broadcast.push_back(is_kept ? one.extent : 1);
    if (is_kept) kept.push_back(one);
  }
  if (dimensions.empty() || !descends(kept)) return std::nullopt;
  op::Binary layer = binary;
  layer.a = is_whole_a ? whole : broadcast;
  layer.b = is_whole_a ? broadcast : whole;
  return ReorderedLayer{layer, {is_whole_a, is_whole_b}, {true}};
}

std::optional<ReorderedLayer> reordered(const op::Reduce& reduce, const ElementOrder& order) {
  if (reduce.fn == op::ReduceFn::arg_max || reduce.fn == op::ReduceFn::arg_min) return std::nullopt;
  op::Reduce layer = reduce;
  layer.x = {};
  layer.axes = {};
  const auto dimensions = dimensions_in_memory(reduce.x, order);
  std::vector<MemoryDimension> kept;
  std::optional<bool> last;  // whether the previous dimension is reduced; like neighbours are merged
  for (const auto& one : dimensions) {
    const bool is_reduced =
        std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<std::int64_t>(one.of)) != reduce.axes.end();
    if (!is_reduced) kept.push_back(one);
    if (last == is_reduced) {
      layer.x[layer.x.size() - 1] *= one.extent;
      continue;
    }
    if (is_reduced) layer.axes.push_back(static_cast<std::int64_t>(layer.x.size()));
    layer.x.push_back(one.extent);
    last = is_reduced;
  }
  if (layer.axes.empty() || !descends(kept)) return std::nullopt;
  return ReorderedLayer{layer, {true}, {false}};
}

}  // namespace

std::optional<ReorderedLayer> reordered_layer(const Layer& layer, const ElementOrder& order) {
  if (order.is_row_major()) return std::nullopt;
  if (const auto* binary = std::get_if<op::Binary>(&layer)) return reordered(*binary, order);
  if (const auto* reduce = std::get_if<op::Reduce>(&layer)) return reordered(*reduce, order);
  return std::nullopt;
}

std::optional<ElementOrder> order_of_operand(const op::Transpose& transpose, const ElementOrder& order) {
  const TensorShape y = transpose.y();
  const auto x_strides = row_major_strides(transpose.x), y_strides = row_major_strides(y);
  const auto dimensions = dimensions_in_memory(y, order);
  if (dimensions.empty()) return std::nullopt;
  std::vector<OrderDigit> digits;
  for (const auto& one : dimensions)
    digits.push_back(
        {one.extent, x_strides[static_cast<std::size_t>(transpose.perm[one.of])] * (one.stride / y_strides[one.of])});
  return ElementOrder(digits);
}

}  // namespace benanza::execution
