// SPDX-License-Identifier: Apache-2.0
// Elements of a row-major buffer as numbers, for every type that a layer computes with.
#pragma once

#include <benanza/base/detail/small_float.hpp>

#include <cstdint>
#include <cstring>

namespace benanza {

namespace detail {
template <class T>
[[nodiscard]] inline T read(const void* data, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(data) + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
/// `load` for types that no inner loop reads.
[[nodiscard]] double load_rare(const void* data, DataType type, std::int64_t i);
}  // namespace detail

/// Element `i` of a buffer. 64-bit integers beyond 2^53 are rounded. Throws UsageError for strings and complex numbers.
[[nodiscard]] inline double load(const void* data, DataType type, std::int64_t i) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return static_cast<double>(detail::read<float>(data, i));
    case DataType::f64: return detail::read<double>(data, i);
    case DataType::f16: return static_cast<double>(detail::half_to_float(detail::read<std::uint16_t>(data, i)));
    case DataType::bf16: return static_cast<double>(detail::bfloat16_to_float(detail::read<std::uint16_t>(data, i)));
    case DataType::i8: return detail::read<std::int8_t>(data, i);
    case DataType::u8: return detail::read<std::uint8_t>(data, i);
    case DataType::i32: return detail::read<std::int32_t>(data, i);
    case DataType::i64: return static_cast<double>(detail::read<std::int64_t>(data, i));
    default: return detail::load_rare(data, type, i);
  }
}

/// Writes `value` as element `i`: floating-point types round to nearest even, 8-bit floats and integers saturate,
/// integers round to nearest even first. Throws UsageError for strings and complex numbers.
void store(void* data, DataType type, std::int64_t i, double value);

/// The number that `store` followed by `load` gives.
[[nodiscard]] double round_to(DataType type, double value);

/// Least and largest number of an integer type (0 and 1 for boolean).
struct IntegerRange {
  double least = 0;
  double largest = 1;
};
[[nodiscard]] IntegerRange integer_range(DataType type);

}  // namespace benanza
