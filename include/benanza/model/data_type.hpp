// SPDX-License-Identifier: Apache-2.0
// DataType: the element types of ONNX (TensorProto.DataType), by the short names that the field uses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza {

enum class DataType : std::uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,
  f8e4m3,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  f6e2m3,
  f6e3m2,
  i4,
  u4,
  i2,
  u2,
  c64,
  c128,
  string,
  tf32  ///< f32 in memory; products may first round it to 11 significant bits; used for products only
};

namespace detail {
struct DataTypeFacts {
  std::string_view name;
  int bits;  // storage of one element
  int onnx;  // number in TensorProto.DataType; 0 (UNDEFINED) for what ONNX lacks
};
inline constexpr std::array<DataTypeFacts, 29> data_type_facts{{
    {"f32", 32, 1},    {"f16", 16, 10},       {"bf16", 16, 16},   {"f64", 64, 11},   {"i8", 8, 3},
    {"u8", 8, 2},      {"i16", 16, 5},        {"u16", 16, 4},     {"i32", 32, 6},    {"u32", 32, 12},
    {"i64", 64, 7},    {"u64", 64, 13},       {"bool", 8, 9},     {"f8e4m3", 8, 17}, {"f8e4m3fnuz", 8, 18},
    {"f8e5m2", 8, 19}, {"f8e5m2fnuz", 8, 20}, {"f8e8m0", 8, 24},  {"f4e2m1", 4, 23}, {"f6e2m3", 6, 27},
    {"f6e3m2", 6, 28}, {"i4", 4, 22},         {"u4", 4, 21},      {"i2", 2, 26},     {"u2", 2, 25},
    {"c64", 64, 14},   {"c128", 128, 15},     {"string", 128, 8}, {"tf32", 32, 0},
}};
}  // namespace detail

/// The short name: `f32`, `bool`, `f8e4m3` (ONNX's FLOAT8E4M3FN).
[[nodiscard]] constexpr std::string_view name(DataType type) {
  return detail::data_type_facts[static_cast<std::size_t>(type)].name;
}

/// Bits that one element takes in memory. A string counts as 128, the size of a pointer and a length.
[[nodiscard]] constexpr int bits(DataType type) { return detail::data_type_facts[static_cast<std::size_t>(type)].bits; }

[[nodiscard]] constexpr std::optional<DataType> data_type_from_name(std::string_view text) {
  for (std::size_t i = 0; i < detail::data_type_facts.size(); ++i)
    if (detail::data_type_facts[i].name == text) return static_cast<DataType>(i);
  return std::nullopt;
}

/// From the number in TensorProto.DataType (onnx.proto). Empty for UNDEFINED and for numbers that ONNX does not define.
[[nodiscard]] constexpr std::optional<DataType> data_type_from_onnx(int number) {
  for (std::size_t i = 0; i < detail::data_type_facts.size(); ++i)
    if (number != 0 && detail::data_type_facts[i].onnx == number) return static_cast<DataType>(i);
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_float(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32:
    case DataType::f16:
    case DataType::bf16:
    case DataType::f64:
    case DataType::f8e4m3:
    case DataType::f8e4m3fnuz:
    case DataType::f8e5m2:
    case DataType::f8e5m2fnuz:
    case DataType::f8e8m0:
    case DataType::f4e2m1:
    case DataType::f6e2m3:
    case DataType::f6e3m2: return true;
    default: return false;
  }
}

/// The type of a tensor's elements in memory: tf32 only affects how f32 is multiplied.
[[nodiscard]] constexpr DataType stored_type(DataType type) { return type == DataType::tf32 ? DataType::f32 : type; }
/// Signed floats of 8 bits: the last bit of a number is up to a quarter of its value.
[[nodiscard]] constexpr bool has_coarse_steps(DataType type) {
  return is_float(type) && bits(type) == 8 && type != DataType::f8e8m0;
}
/// Integers of 8 bits, signed and unsigned: the elements of quantised tensors.
[[nodiscard]] constexpr bool is_8_bit(DataType type) { return type == DataType::i8 || type == DataType::u8; }

}  // namespace benanza
