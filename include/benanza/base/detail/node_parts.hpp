// SPDX-License-Identifier: Apache-2.0
// Names of the nodes with which the importer replaces one node: each name is that of the original node plus one of
// these suffixes, and one node keeps the name unchanged. An attention with projections is preceded by a product and a
// bias; other parts are numbered. And names of the same node in the later passes of a loop that stand in its place.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace benanza {

inline constexpr std::string_view product_part = "/product", bias_part = "/bias";
inline constexpr std::array attention_parts{product_part, bias_part};

/// Part 0 keeps the name. No more parts than this are searched for; few operators have as many.
inline constexpr std::size_t most_parts = 16;
[[nodiscard]] inline std::string numbered_part(std::size_t i) { return "/part." + std::to_string(i); }

/// The first pass keeps the name.
[[nodiscard]] inline std::string numbered_pass(std::size_t i) { return "/pass." + std::to_string(i); }
/// The name of the first pass.
[[nodiscard]] inline std::string_view without_pass(std::string_view name) {
  const std::size_t at = name.rfind("/pass.");
  const bool numbered =
      at != std::string_view::npos &&
      name.find_first_not_of("0123456789", at + numbered_pass(0).size() - 1) == std::string_view::npos;
  return numbered ? name.substr(0, at) : name;
}

}  // namespace benanza
