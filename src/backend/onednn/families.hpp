// SPDX-License-Identifier: Apache-2.0
// The families of operators that oneDNN covers: each adds its plans, or says why there is none.
#pragma once

#include "rivals.hpp"

#include <type_traits>

namespace benanza::onednn {

void add_plans(const op::Conv& op, Rivals& rivals);
void add_plans(const op::ConvTranspose& op, Rivals& rivals);
void add_plans(const op::MatMul& op, Rivals& rivals);
void add_plans(const op::Attention& op, Rivals& rivals);
void add_plans(const op::Recurrent& op, Rivals& rivals);
void add_plans(const op::Pool& op, Rivals& rivals);
void add_plans(const op::BatchNorm& op, Rivals& rivals);
void add_plans(const op::LayerNorm& op, Rivals& rivals);
void add_plans(const op::Lrn& op, Rivals& rivals);
void add_plans(const op::Softmax& op, Rivals& rivals);
void add_plans(const op::Unary& op, Rivals& rivals);
void add_plans(const op::Binary& op, Rivals& rivals);
void add_plans(const op::Nary& op, Rivals& rivals);
void add_plans(const op::Reduce& op, Rivals& rivals);
void add_plans(const op::Transpose& op, Rivals& rivals);
void add_plans(const op::Concat& op, Rivals& rivals);
void add_plans(const op::Split& op, Rivals& rivals);
void add_plans(const op::Slice& op, Rivals& rivals);
void add_plans(const op::Cast& op, Rivals& rivals);
void add_plans(const op::Resize& op, Rivals& rivals);

/// Operators whose plans have not been written for other types than f32.
template <class Op>
inline constexpr bool f32_only =
    std::is_same_v<Op, op::Recurrent> || std::is_same_v<Op, op::BatchNorm> || std::is_same_v<Op, op::Lrn>;
/// Operators that move elements, whatever these mean.
template <class Op>
inline constexpr bool only_moves = std::is_same_v<Op, op::Transpose> || std::is_same_v<Op, op::Concat> ||
                                   std::is_same_v<Op, op::Split> || std::is_same_v<Op, op::Slice>;

template <class Op>
concept Offered = requires(const Op& op, Rivals& rivals) {
  add_plans(op, rivals);
};

}  // namespace benanza::onednn
