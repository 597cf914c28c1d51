// SPDX-License-Identifier: Apache-2.0
// The kernels that convert elements of one type to another.
#pragma once

#include "context.hpp"

namespace benanza::native {

/// One or two conversions: through f32, or through i64 between types that f32 would not hold exactly.
struct Conversion {
  ConvertKernel first = nullptr, second = nullptr;  ///< if there is only `second`: one step; null if there is none
  std::size_t hub_bytes = 4;                        ///< of an element in between
};
[[nodiscard]] Conversion conversion(const Kernels& kernels, Stored from, Stored to);

}  // namespace benanza::native
