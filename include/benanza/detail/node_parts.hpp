// SPDX-License-Identifier: Apache-2.0
// What the nodes are called that the importer puts before an attention that projects too: the node's own name, which
// the attention keeps, and one of these.
#pragma once

#include <array>
#include <string_view>

namespace benanza {

inline constexpr std::string_view product_part = "/product", bias_part = "/bias";
inline constexpr std::array node_parts{product_part, bias_part};

}  // namespace benanza
