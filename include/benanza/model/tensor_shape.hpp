// SPDX-License-Identifier: Apache-2.0
// TensorShape and IntList: short lists of integers without heap allocation, so that whole layers are literal values
// that can be in constexpr tables (the generated suites) and can be compared and copied freely.
#pragma once

#include <benanza/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>

namespace benanza {

/// At most `Capacity` integers. More throw InputError: the importer then turns the node into a modelled layer instead.
template <std::size_t Capacity>
class InlineInts {
 public:
  static constexpr std::size_t capacity = Capacity;

  constexpr InlineInts() = default;
  constexpr InlineInts(std::initializer_list<std::int64_t> values) {
    for (auto value : values) push_back(value);
  }
  constexpr explicit InlineInts(std::span<const std::int64_t> values) {
    for (auto value : values) push_back(value);
  }
  /// `count` times `value`.
  [[nodiscard]] static constexpr InlineInts filled(std::size_t count, std::int64_t value) {
    InlineInts result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(value);
    return result;
  }

  constexpr void push_back(std::int64_t value) {
    if (size_ == Capacity) throw InputError("a list of integers is longer than Benanza's layers can hold");
    values_[size_++] = value;
  }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] constexpr std::int64_t& operator[](std::size_t i) { return values_[i]; }
  [[nodiscard]] constexpr std::int64_t back() const { return values_[size_ - 1]; }
  [[nodiscard]] constexpr const std::int64_t* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const { return values_.data() + size_; }

  friend constexpr bool operator==(const InlineInts& a, const InlineInts& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<std::int64_t, Capacity> values_{};
  std::size_t size_ = 0;
};

/// Dimensions as ONNX orders them, outermost first. Rank 0 is a scalar (one element).
using TensorShape = InlineInts<8>;
/// Sizes along one axis, for Concat and Split.
using IntList = InlineInts<32>;

/// a * b; throws InputError if the product does not fit (sizes in a model file are not to be trusted).
[[nodiscard]] constexpr std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw InputError("a tensor's element count overflows 64 bits");
  return product;
}

/// Product of a range of dimensions; 1 for an empty range.
[[nodiscard]] constexpr std::int64_t element_count(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (auto dim : dims) count = checked_product(count, dim);
  return count;
}

/// Shape of ONNX's multidirectional broadcasting (NumPy's rule). Throws InputError if the two do not broadcast.
[[nodiscard]] constexpr TensorShape broadcast(const TensorShape& a, const TensorShape& b) {
  const std::size_t rank = a.size() > b.size() ? a.size() : b.size();
  TensorShape result = TensorShape::filled(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t da = i + a.size() >= rank ? a[i + a.size() - rank] : 1;
    const std::int64_t db = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
    if (da != db && da != 1 && db != 1) throw InputError("two shapes do not broadcast");
    result[i] = da == 1 ? db : da;
  }
  return result;
}

}  // namespace benanza
