// SPDX-License-Identifier: Apache-2.0
// SmallFloat: encoding and decoding of the floating-point formats below 32 bits, from their definitions: IEEE 754 half
// precision, bfloat16, and the 8- and 4-bit formats of ONNX ("Float stored in 8 bits", "Float stored in 4 bits" of its
// documentation).
#pragma once

#include <benanza/model/data_type.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace benanza::detail {

/// A format of sign, exponent and mantissa. `uz`: one NaN in place of the negative zero, no infinities.
struct SmallFloat {
  int exponent_bits = 5, mantissa_bits = 10, bias = 15;
  bool infinity = true;  // the top exponent is reserved for infinity and NaN
  bool uz = false;
  bool not_a_number = true;  // without infinity: all ones are NaN
  double largest = 65504;

  [[nodiscard]] constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr std::uint32_t nan() const { return uz ? 1U << sign_shift() : (1U << sign_shift()) - 1U; }
  [[nodiscard]] constexpr std::uint32_t infinite() const { return ((1U << exponent_bits) - 1U) << mantissa_bits; }
};

[[nodiscard]] constexpr SmallFloat small_float(DataType type) {
  switch (type) {
    case DataType::bf16: return {.exponent_bits = 8, .mantissa_bits = 7, .bias = 127, .largest = 0x1.FEp127};
    case DataType::f8e4m3:
      return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .infinity = false, .largest = 448};
    case DataType::f8e4m3fnuz:
      return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 8, .infinity = false, .uz = true, .largest = 240};
    case DataType::f8e5m2: return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .largest = 57344};
    case DataType::f8e5m2fnuz:
      return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 16, .infinity = false, .uz = true, .largest = 57344};
    case DataType::f4e2m1:
      return {
          .exponent_bits = 2, .mantissa_bits = 1, .bias = 1, .infinity = false, .not_a_number = false, .largest = 6};
    case DataType::f6e2m3:
      return {
          .exponent_bits = 2, .mantissa_bits = 3, .bias = 1, .infinity = false, .not_a_number = false, .largest = 7.5};
    case DataType::f6e3m2:
      return {
          .exponent_bits = 3, .mantissa_bits = 2, .bias = 3, .infinity = false, .not_a_number = false, .largest = 28};
    default: return {};
  }
}

[[nodiscard]] inline double decode(const SmallFloat& format, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1U);
  const std::uint32_t exponent = (bits >> format.mantissa_bits) & ((1U << format.exponent_bits) - 1U);
  const double sign = (bits >> format.sign_shift()) != 0 ? -1.0 : 1.0;
  const bool top = exponent == (1U << format.exponent_bits) - 1U;
  if (format.infinity && top)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (format.uz ? bits == format.nan()
                : (!format.infinity && format.not_a_number && (bits & format.nan()) == format.nan()))
    return std::numeric_limits<double>::quiet_NaN();
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  return sign * std::ldexp(static_cast<double>(mantissa + (exponent == 0 ? 0U : 1U << format.mantissa_bits)), scale);
}

/// Rounds to nearest, ties to even. A value that is too large becomes the largest number if `saturate` is set;
/// otherwise infinity, or NaN in a format without infinity.
[[nodiscard]] inline std::uint32_t encode(const SmallFloat& format, double value, bool saturate) {
  const std::uint32_t sign = std::signbit(value) ? 1U << format.sign_shift() : 0U;
  if (std::isnan(value)) {
    if (format.infinity) return sign | (format.infinite() + (1U << (format.mantissa_bits - 1)));
    return format.not_a_number ? format.nan()
                               : 1U << format.sign_shift();  // ONNX's 4-bit vectors have a negative zero instead
  }
  double magnitude = std::fabs(value);
  int exponent = 0;
  if (magnitude > format.largest * 2) magnitude = format.largest * 2;  // keeps what follows in range; infinity too
  std::frexp(magnitude, &exponent);
  // The exponent of the leading bit. All subnormal numbers have the lowest one.
  exponent = std::max(exponent - 1, 1 - format.bias);
  double steps = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  if (std::ldexp(steps, exponent - format.mantissa_bits) > format.largest) {
    if (!saturate && !(format.infinity || format.not_a_number || format.uz)) saturate = true;
    if (!saturate) return format.infinity ? sign | format.infinite() : format.uz ? format.nan() : sign | format.nan();
    return encode(format, std::copysign(format.largest, value), true);
  }
  if (steps == 0) return format.uz ? 0U : sign;
  // `steps` counts units of the last place; a carry into the next exponent comes out right by plain addition.
  const auto biased = static_cast<std::uint32_t>(exponent + format.bias - 1) << format.mantissa_bits;
  return sign | (biased + static_cast<std::uint32_t>(steps));
}

/// IEEE half precision to float, for every bit pattern.
[[nodiscard]] inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (magnitude & 0x3FFU) << 13);
  if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13) + ((127U - 15U) << 23)));
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F));
}
[[nodiscard]] inline float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace benanza::detail
