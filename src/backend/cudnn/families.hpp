// SPDX-License-Identifier: Apache-2.0
// The operators that cuDNN's legacy calls offer, each in the file of its family.
#pragma once

#include "rivals.hpp"

namespace benanza::cudnn {

void add_plans(const op::Conv& op, Rivals& rivals);
void add_plans(const op::ConvTranspose& op, Rivals& rivals);
void add_plans(const op::Pool& op, Rivals& rivals);
void add_plans(const op::Softmax& op, Rivals& rivals);
void add_plans(const op::BatchNorm& op, Rivals& rivals);
void add_plans(const op::Lrn& op, Rivals& rivals);
void add_plans(const op::Unary& op, Rivals& rivals);
void add_plans(const op::Binary& op, Rivals& rivals);
void add_plans(const op::Nary& op, Rivals& rivals);
void add_plans(const op::Reduce& op, Rivals& rivals);
void add_plans(const op::Transpose& op, Rivals& rivals);
void add_plans(const op::Recurrent& op, Rivals& rivals);

template <class Op>
concept Offered = requires(const Op& op, Rivals& rivals) {
  add_plans(op, rivals);
};

}  // namespace benanza::cudnn
