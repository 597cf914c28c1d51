// SPDX-License-Identifier: Apache-2.0
// ScatterReduction: what a scatter does where it writes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza::op {

enum class ScatterReduction : std::uint8_t { none, add, mul, max, min };
[[nodiscard]] constexpr auto enum_names(ScatterReduction) {
  return std::array<std::string_view, 5>{"none", "add", "mul", "max", "min"};
}

}  // namespace benanza::op
