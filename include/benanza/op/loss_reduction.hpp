// SPDX-License-Identifier: Apache-2.0
// LossReduction: how the losses of single positions are combined.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza::op {

enum class LossReduction : std::uint8_t { none, sum, mean };
[[nodiscard]] constexpr auto enum_names(LossReduction) {
  return std::array<std::string_view, 3>{"none", "sum", "mean"};
}

}  // namespace benanza::op
