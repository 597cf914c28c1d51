// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a group of the fused form.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

namespace benanza {

/// The additions of the addend of a product, such as a bias. They cost nothing: a sum of products starts with the
/// addend in place of 0.
[[nodiscard]] inline Flops first_addend(const Layer& layer) {
  const auto of = [](const auto& product) -> Flops {
    const Epilogue& post = product.post;
    const bool adds = !post.empty() && (post[0].fn == ElementwiseFn::add || post[0].fn == ElementwiseFn::sub);
    return {adds ? static_cast<double>(element_count(product.y())) : 0};
  };
  if (const auto* conv = std::get_if<op::Conv>(&layer)) return of(*conv);
  if (const auto* conv = std::get_if<op::ConvTranspose>(&layer)) return of(*conv);
  if (const auto* product = std::get_if<op::MatMul>(&layer)) return of(*product);
  return {};
}

/// The operations that the fastest form of a layer leaves out.
[[nodiscard]] inline Flops free_flops(const Layer& layer) {
  if (const auto* attention = std::get_if<op::Attention>(&layer)) return {attention->saved_flops()};
  return first_addend(layer);
}

/// The arithmetic of the group's layer without what products absorb. If no single call computes the whole group, it is
/// the least that its pieces and members do together. A piece may do more than its members, for example add zeros for a
/// bias that one of several products lacks.
[[nodiscard]] inline Flops group_flops(const Occurrence& group, const LayerGraph& single) {
  const auto flops = [](const Layer& layer) { return cost(layer).flops - free_flops(layer); };
  const std::size_t size = group.members.size();
  if (group.pieces.empty() || group.pieces[0].count == size) return flops(group.layer);
  std::vector<Flops> least(size + 1);
  for (std::size_t at = size; at-- > 0;) {
    const Occurrence& member = single.layers[group.members[at]];
    least[at] = cost(member.layer).flops - member.absorbed + least[at + 1];
    for (const Piece& piece : group.pieces)
      if (piece.first == at) least[at] = std::min(least[at], flops(piece.layer) + least[at + piece.count]);
  }
  return least[0];
}

}  // namespace benanza
