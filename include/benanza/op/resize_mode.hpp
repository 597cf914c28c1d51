// SPDX-License-Identifier: Apache-2.0
// ResizeMode, ResizeCoordinates, ResizeRounding: how elements between those of a tensor are computed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza::op {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };
[[nodiscard]] constexpr auto enum_names(ResizeMode) {
  return std::array<std::string_view, 3>{"nearest", "linear", "cubic"};
}

enum class ResizeCoordinates : std::uint8_t {
  half_pixel,
  align_corners,
  asymmetric,
  pytorch_half_pixel,
  half_pixel_symmetric,
  tf_crop_and_resize
};
[[nodiscard]] constexpr auto enum_names(ResizeCoordinates) {
  return std::array<std::string_view, 6>{"half_pixel",         "align_corners",        "asymmetric",
                                         "pytorch_half_pixel", "half_pixel_symmetric", "tf_crop_and_resize"};
}
enum class ResizeRounding : std::uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };
[[nodiscard]] constexpr auto enum_names(ResizeRounding) {
  return std::array<std::string_view, 4>{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
}

}  // namespace benanza::op
