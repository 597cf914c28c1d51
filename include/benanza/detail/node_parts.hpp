// SPDX-License-Identifier: Apache-2.0
// What the nodes are called that the importer puts in the place of one: its name, which one of them keeps, and one of
// these. Before an attention that projects too there are a product and a bias; others are numbered.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace benanza {

inline constexpr std::string_view product_part = "/product", bias_part = "/bias";
inline constexpr std::array attention_parts{product_part, bias_part};

/// Part 0 keeps the name. Few operators have as many parts as are looked for.
inline constexpr std::size_t most_parts = 16;
[[nodiscard]] inline std::string numbered_part(std::size_t i) { return "/part." + std::to_string(i); }

}  // namespace benanza
