// SPDX-License-Identifier: Apache-2.0
// Phase: the parts of an iteration of training.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace benanza {

/// A part of an iteration.
enum class Phase : std::uint8_t { forward, loss, backward, update };
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(Phase) {
  return {"forward", "loss", "backward", "update"};
}

}  // namespace benanza
