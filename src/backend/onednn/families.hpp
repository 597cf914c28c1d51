// SPDX-License-Identifier: Apache-2.0
// The families of operators that oneDNN covers: each adds its plans, or gives the reason why there is none.
#pragma once

#include "candidates.hpp"

#include <type_traits>

namespace benanza::onednn {

void add_plans(const op::Conv& op, Candidates& candidates);
void add_plans(const op::ConvTranspose& op, Candidates& candidates);
void add_plans(const op::ConvGradient& op, Candidates& candidates);
void add_plans(const op::UnaryGradient& op, Candidates& candidates);
void add_plans(const op::SoftmaxGradient& op, Candidates& candidates);
void add_plans(const op::NormGradient& op, Candidates& candidates);
void add_plans(const op::PoolGradient& op, Candidates& candidates);
void add_plans(const op::ResizeGradient& op, Candidates& candidates);
void add_plans(const op::MatMul& op, Candidates& candidates);
void add_plans(const op::Attention& op, Candidates& candidates);
void add_plans(const op::Recurrent& op, Candidates& candidates);
void add_plans(const op::Pool& op, Candidates& candidates);
void add_plans(const op::BatchNorm& op, Candidates& candidates);
void add_plans(const op::LayerNorm& op, Candidates& candidates);
void add_plans(const op::Lrn& op, Candidates& candidates);
void add_plans(const op::Softmax& op, Candidates& candidates);
void add_plans(const op::Unary& op, Candidates& candidates);
void add_plans(const op::Binary& op, Candidates& candidates);
void add_plans(const op::Nary& op, Candidates& candidates);
void add_plans(const op::Reduce& op, Candidates& candidates);
void add_plans(const op::Transpose& op, Candidates& candidates);
void add_plans(const op::Concat& op, Candidates& candidates);
void add_plans(const op::Split& op, Candidates& candidates);
void add_plans(const op::Slice& op, Candidates& candidates);
void add_plans(const op::Cast& op, Candidates& candidates);
void add_plans(const op::Resize& op, Candidates& candidates);

/// Operators whose plans exist only for f32.
template <class Op>
inline constexpr bool f32_only = std::is_same_v<Op, op::Recurrent> || std::is_same_v<Op, op::NormGradient> ||
                                 std::is_same_v<Op, op::BatchNorm> || std::is_same_v<Op, op::Lrn>;
/// Operators that only move elements, whatever these represent.
template <class Op>
inline constexpr bool only_moves = std::is_same_v<Op, op::Transpose> || std::is_same_v<Op, op::Concat> ||
                                   std::is_same_v<Op, op::Split> || std::is_same_v<Op, op::Slice>;

template <class Op>
concept Offered = requires(const Op& op, Candidates& candidates) {
  add_plans(op, candidates);
};

}  // namespace benanza::onednn
