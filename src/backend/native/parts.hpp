// SPDX-License-Identifier: Apache-2.0
// Division of work into parts.
#pragma once

#include "kernels.hpp"

namespace benanza::native {

/// The number of parts of at most `most`.
constexpr Index parts_of(Index n, Index most) { return (n + most - 1) / most; }
constexpr Index round_up(Index n, Index to) { return parts_of(n, to) * to; }
/// The size of equal parts, none larger than `most`.
constexpr Index even(Index n, Index most) { return parts_of(n, parts_of(n, most)); }

}  // namespace benanza::native
