// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a group of the fused form.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza {

/// The arithmetic of the group's layer. If no single call computes the whole group, it is the least that its pieces and
/// members do together. A piece may do more than its members, for example add zeros for a bias that one of several
/// products lacks.
[[nodiscard]] inline Flops group_flops(const Occurrence& group, const LayerGraph& single) {
  const std::size_t size = group.members.size();
  if (group.pieces.empty() || group.pieces[0].count == size) return cost(group.layer).flops;
  std::vector<Flops> least(size + 1);
  for (std::size_t at = size; at-- > 0;) {
    least[at] = cost(single.layers[group.members[at]].layer).flops + least[at + 1];
    for (const Piece& piece : group.pieces)
      if (piece.first == at) least[at] = std::min(least[at], cost(piece.layer).flops + least[at + piece.count]);
  }
  return least[0];
}

}  // namespace benanza
