// SPDX-License-Identifier: Apache-2.0
// The operators that cuDNN's legacy calls offer, each in the file of its family.
#pragma once

#include "candidates.hpp"

namespace benanza::cudnn {

void add_plans(const op::Conv& op, Candidates& candidates);
void add_plans(const op::ConvTranspose& op, Candidates& candidates);
void add_plans(const op::ConvGradient& op, Candidates& candidates);
void add_plans(const op::SoftmaxGradient& op, Candidates& candidates);
void add_plans(const op::UnaryGradient& op, Candidates& candidates);
void add_plans(const op::NormGradient& op, Candidates& candidates);
void add_plans(const op::Pool& op, Candidates& candidates);
void add_plans(const op::Softmax& op, Candidates& candidates);
void add_plans(const op::BatchNorm& op, Candidates& candidates);
void add_plans(const op::Lrn& op, Candidates& candidates);
void add_plans(const op::Unary& op, Candidates& candidates);
void add_plans(const op::Binary& op, Candidates& candidates);
void add_plans(const op::Nary& op, Candidates& candidates);
void add_plans(const op::Reduce& op, Candidates& candidates);
void add_plans(const op::Transpose& op, Candidates& candidates);
void add_plans(const op::Recurrent& op, Candidates& candidates);

template <class Op>
concept Offered = requires(const Op& op, Candidates& candidates) {
  add_plans(op, candidates);
};

}  // namespace benanza::cudnn
