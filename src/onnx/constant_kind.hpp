// SPDX-License-Identifier: Apache-2.0
// ConstantKind: what the numbers of a constant say about its origin. Exporters write masks and tables into a file in
// the same way as parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace benanza::importer {

enum class ConstantKind : std::uint8_t {
  numbers,  ///< nothing is known
  zeros,
  ones,
  equal,  ///< one other number everywhere
  mask,   ///< zeros and large negative numbers, or a triangle of zeros and ones
  table   ///< an axis of at least 8 elements along which the numbers follow their position: a ramp, a sinusoid, powers,
          ///< or a window, which is the same from both ends
};

/// The largest number that exporters and networks use to hide a score.
inline constexpr double hidden_score = -1e4;

[[nodiscard]] constexpr bool is_uniform(ConstantKind kind) {
  return kind == ConstantKind::zeros || kind == ConstantKind::ones || kind == ConstantKind::equal;
}

/// `number`: the element with a row-major index.
[[nodiscard]] ConstantKind constant_kind(std::span<const std::int64_t> dims,
                                         const std::function<double(std::int64_t)>& number);

}  // namespace benanza::importer
