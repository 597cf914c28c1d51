// SPDX-License-Identifier: Apache-2.0
// Deviation: the difference between an output of a sequence of calls and that of single nodes (docs/witness.md).
#pragma once

#include <benanza/execution/tensor.hpp>
#include <benanza/model/graph.hpp>

namespace benanza::execution {

struct Deviation {
  double largest = 0;  ///< largest finite magnitude of the expected numbers
  /// For floats: the largest difference, relative to `largest`. Infinite if only one of the two numbers is NaN or
  /// infinite, or if both are infinite with different signs.
  double relative = 0;
  double unequal = 0;  ///< for integers and booleans: the fraction of elements that differ
};

/// `rounded`: integers may differ by one step.
[[nodiscard]] Deviation deviation(const Tensor& expected, const Tensor& got, bool rounded);

/// Whether a value has integers of at most 8 bits that come from the rounding of a quantising node, perhaps through
/// nodes that keep the type.
[[nodiscard]] bool is_rounded(const Graph& graph, ValueId id);

}  // namespace benanza::execution
