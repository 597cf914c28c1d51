// SPDX-License-Identifier: Apache-2.0
// Units: quantities that must not be mixed up have distinct types. Only operations that the units allow are defined;
// `.value` is the number.
#pragma once

#include <compare>

namespace benanza {

template <class Tag>
struct Quantity {
  double value = 0;
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using Flops = Quantity<struct FlopsTag>;  ///< floating-point (or integer multiply-add) operations, two per multiply-add
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;

[[nodiscard]] constexpr Seconds operator/(Bytes bytes, BytesPerSecond rate) { return {bytes.value / rate.value}; }
[[nodiscard]] constexpr Seconds operator/(Flops flops, FlopsPerSecond rate) { return {flops.value / rate.value}; }
[[nodiscard]] constexpr Seconds milliseconds(double value) { return {value * 1e-3}; }
[[nodiscard]] constexpr Seconds nanoseconds(double value) { return {value * 1e-9}; }

inline namespace literals {
constexpr Seconds operator""_s(long double value) { return {static_cast<double>(value)}; }
constexpr Seconds operator""_ms(long double value) { return {static_cast<double>(value) * 1e-3}; }
constexpr Seconds operator""_ms(unsigned long long value) { return {static_cast<double>(value) * 1e-3}; }
constexpr Seconds operator""_us(long double value) { return {static_cast<double>(value) * 1e-6}; }
constexpr Seconds operator""_us(unsigned long long value) { return {static_cast<double>(value) * 1e-6}; }
}  // namespace literals

}  // namespace benanza
