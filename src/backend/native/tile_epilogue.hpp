// SPDX-License-Identifier: Apache-2.0
// TileEpilogue: the epilogue of a plan made of tiles. A bias, an addend of the result's shape and bounds are applied in
// registers; later steps run over rows of the result that are still in the caches.
#pragma once

#include "chain.hpp"

#include <optional>

namespace benanza::native {

/// Operands are inputs 2, 3, ... of the layer.
class TileEpilogue {
 public:
  /// `y` is the shape of the result in memory; `channels` has its size along the axes of channels and 1 elsewhere.
  /// `in_memory` converts an operand's shape to its shape in memory. Empty if a step has no kernel.
  template <class InMemory>
  [[nodiscard]] static std::optional<TileEpilogue> make(const Epilogue& post, const Kernels& kernels,
                                                        const TensorShape& y, const TensorShape& channels,
                                                        const InMemory& in_memory) {
    TileEpilogue result(kernels, y);
    std::size_t i = result.take_first(post), argument = 2 + (result.bias_ ? 1 : 0) + (result.addend_ ? 1 : 0);
    for (; i < post.size(); ++i) {
      const PostOp& step = post[i];
      const TensorShape operand = step.channel ? channels : step.shape.empty() ? y : in_memory(step.shape);
      const bool added = is_binary(step.fn) ? result.add_binary(step, argument++, operand) : result.add_unary(step);
      if (!added) return std::nullopt;
    }
    if (result.steps_ > 0) result.rest_.finish();
    return result;
  }

  /// Sets the parts that a tile computes itself. `bias` is the offset of its first bias, `y` its offset in the result;
  /// `whole`: all products are included.
  void set(TileArguments& tile, const Arguments& arguments, Index bias, Index y, bool whole) const;
  /// Applies the later steps to elements [begin, begin + n) of the result.
  void finish(const Arguments& arguments, Index begin, Index n, std::byte* scratch) const;
  [[nodiscard]] bool finishes() const { return steps_ > 0; }
  [[nodiscard]] std::size_t scratch_bytes() const { return steps_ > 0 ? rest_.scratch_bytes() : 0; }

 private:
  TileEpilogue(const Kernels& kernels, const TensorShape& y);
  /// Takes the leading steps that tiles can apply and returns their number.
  std::size_t take_first(const Epilogue& post);
  [[nodiscard]] bool add_binary(const PostOp& step, std::size_t argument, const TensorShape& operand);
  [[nodiscard]] bool add_unary(const PostOp& step);

  bool bias_ = false, addend_ = false;
  float least_, most_;
  Chain rest_;
  std::size_t steps_ = 0;
};

}  // namespace benanza::native
