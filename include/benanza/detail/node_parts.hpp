// SPDX-License-Identifier: Apache-2.0
// Names of the nodes with which the importer replaces one node: each name is that of the original node plus one of
// these suffixes, and one node keeps the name unchanged. An attention with projections is preceded by a product and a
// bias; other parts are numbered.
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

}  // namespace benanza
