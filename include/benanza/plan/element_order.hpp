// SPDX-License-Identifier: Apache-2.0
// ElementOrder: the order of a tensor's elements in memory, whatever dimensions a plan sees it in. Two plans of equal
// order understand each other's memory without a copy, even if one sees 1x64x56x56 and the other 1x64x3136.
#pragma once

#include <benanza/plan/index_maps.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// A position in memory is a number of several digits. A digit has `extent` values, each of which is `stride` elements
/// further in the row-major tensor.
struct OrderDigit {
  std::int64_t extent = 1, stride = 1;
  bool operator==(const OrderDigit&) const = default;
};

class ElementOrder {
 public:
  /// Row-major.
  ElementOrder() = default;
  /// The digit that changes slowest comes first. Neighbours that traverse the row-major tensor with one stride become
  /// one digit, so that equal orders compare equal.
  explicit ElementOrder(std::span<const OrderDigit> digits) {
    for (const auto& digit : digits) {
      if (digit.extent == 1) continue;
      if (!digits_.empty() && digits_.back().stride == digit.extent * digit.stride)
        digits_.back() = {digits_.back().extent * digit.extent, digit.stride};
      else digits_.push_back(digit);
    }
    if (digits_.size() == 1 && digits_.front().stride == 1) digits_.clear();
  }

  [[nodiscard]] bool is_row_major() const { return digits_.empty(); }
  /// Empty if it is row-major.
  [[nodiscard]] const std::vector<OrderDigit>& digits() const { return digits_; }
  /// `4*50176,3136*1,16*3136`; empty if it is row-major.
  [[nodiscard]] std::string text() const {
    std::string result;
    for (const auto& [extent, stride] : digits_)
      result += (result.empty() ? "" : ",") + std::to_string(extent) + "*" + std::to_string(stride);
    return result;
  }
  bool operator==(const ElementOrder&) const = default;

  /// The order of a part of the tensor that is `elements` long, begins at a multiple of that, and is contiguous in
  /// memory; empty if no such part is. In row-major tensors each is.
  [[nodiscard]] std::optional<ElementOrder> of_part(std::int64_t elements) const {
    if (is_row_major()) return ElementOrder();
    const auto& [extent, stride] = digits_.front();
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < digits_.size(); ++i) inner *= digits_[i].extent;
    if (inner != stride || elements % stride != 0 || elements > extent * stride) return std::nullopt;
    std::vector<OrderDigit> part = digits_;
    part.front().extent = elements / stride;
    return ElementOrder(part);
  }

 private:
  std::vector<OrderDigit> digits_{};
};

namespace detail {

/// The digits of an order, cut where the other has cuts: row-major strides of both, ascending, without the last.
[[nodiscard]] inline std::optional<std::vector<OrderDigit>> cut_digits(std::span<const OrderDigit> digits,
                                                                       std::span<const std::int64_t> cuts) {
  std::vector<OrderDigit> result;
  for (auto [extent, stride] : digits) {
    std::vector<OrderDigit> pieces;  // the fastest first
    for (const auto cut : cuts) {
      if (cut <= stride || cut >= stride * extent) continue;
      if (cut % stride != 0 || (stride * extent) % cut != 0) return std::nullopt;
      pieces.push_back({cut / stride, stride});
      extent = stride * extent / cut;
      stride = cut;
    }
    pieces.push_back({extent, stride});
    result.insert(result.end(), pieces.rbegin(), pieces.rend());
  }
  return result;
}

}  // namespace detail

/// The dimensions of a copy of `elements` elements from one order to another; empty if the two divide the tensor at
/// places that do not divide each other.
[[nodiscard]] inline std::optional<std::vector<StridedDimension>> order_change(const ElementOrder& from,
                                                                               const ElementOrder& to,
                                                                               std::int64_t elements) {
  const auto all = [&](const ElementOrder& order) {
    return order.is_row_major() ? std::vector<OrderDigit>{{elements, 1}} : order.digits();
  };
  std::vector<std::int64_t> cuts;
  for (const auto* order : {&from, &to})
    for (const auto& [extent, stride] : all(*order)) cuts.insert(cuts.end(), {stride, stride * extent});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const auto x = detail::cut_digits(all(from), cuts), y = detail::cut_digits(all(to), cuts);
  if (!x || !y || x->size() != y->size()) return std::nullopt;
  // Digits of equal row-major stride are the same; their position decides their strides in memory.
  const auto strides = [](const std::vector<OrderDigit>& digits) {
    std::vector<std::pair<OrderDigit, std::int64_t>> result;
    std::int64_t width = 1;
    for (std::size_t i = digits.size(); i-- > 0; width *= digits[i].extent) result.push_back({digits[i], width});
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.first.stride > b.first.stride; });
    return result;
  };
  const auto in_x = strides(*x), in_y = strides(*y);
  std::vector<StridedDimension> dimensions;
  for (std::size_t i = 0; i < in_x.size(); ++i) {
    if (!(in_x[i].first == in_y[i].first)) return std::nullopt;
    dimensions.push_back({in_x[i].first.extent, in_x[i].second, in_y[i].second});
  }
  return folded(std::move(dimensions));
}

}  // namespace benanza
