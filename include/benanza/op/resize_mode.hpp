// SPDX-License-Identifier: Apache-2.0
// ResizeMode: how elements between those of a tensor are made.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza::op {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };
[[nodiscard]] constexpr auto enum_names(ResizeMode) {
  return std::array<std::string_view, 3>{"nearest", "linear", "cubic"};
}

}  // namespace benanza::op
