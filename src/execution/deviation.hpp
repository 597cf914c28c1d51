// SPDX-License-Identifier: Apache-2.0
// Deviation: how far an output of a sequence of calls is from what single nodes compute (docs/witness.md).
#pragma once

#include <benanza/execution/tensor.hpp>
#include <benanza/model/graph.hpp>

namespace benanza::execution {

struct Deviation {
  double largest = 0;  ///< finite magnitude of what is expected
  /// For floats: the largest difference, relative to `largest`. Infinite where only one of both is not a number, or is
  /// infinite, or where both are, with different signs.
  double relative = 0;
  double unequal = 0;  ///< for integers and booleans: the share of elements that differ
};

/// `rounded`: integers may be one step off.
[[nodiscard]] Deviation deviation(const Tensor& expected, const Tensor& got, bool rounded);

/// Whether a value has integers of at most 8 bits that a quantising node has rounded, perhaps before nodes that keep
/// the type.
[[nodiscard]] bool is_rounded(const Graph& graph, ValueId id);

}  // namespace benanza::execution
