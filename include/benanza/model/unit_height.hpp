// SPDX-License-Identifier: Apache-2.0
// One-dimensional convolutions in the form that cuDNN takes: two-dimensional with height 1, which has the same memory
// layout and the same work.
#pragma once

#include <benanza/model/epilogue.hpp>
#include <benanza/model/tensor_shape.hpp>

#include <cstddef>
#include <cstdint>

namespace benanza::detail {

/// The list with `value` inserted before entry `at`. An empty list, which stands for defaults, remains empty.
[[nodiscard]] inline TensorShape inserted(const TensorShape& list, std::size_t at, std::int64_t value) {
  TensorShape result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == at) result.push_back(value);
    result.push_back(list[i]);
  }
  return result;
}

/// The convolution, transposed convolution or gradient with a height of 1. Those with two or more dimensions are
/// returned unchanged.
template <class Convolution>
[[nodiscard]] Convolution with_unit_height(const Convolution& op) {
  if (op.x.size() != 3) return op;
  Convolution result = op;
  result.x = inserted(op.x, 2, 1);
  result.w = inserted(op.w, 2, 1);
  result.pads = inserted(inserted(op.pads, 1, 0), 0, 0);  // begins, then ends
  result.strides = inserted(op.strides, 0, 1);
  result.dilations = inserted(op.dilations, 0, 1);
  if constexpr (requires { op.output_padding; }) result.output_padding = inserted(op.output_padding, 0, 0);
  if constexpr (requires { op.post; }) {
    result.post = {};
    for (PostOp step : op.post) {
      if (step.shape.size() == 3) step.shape = inserted(step.shape, 2, 1);  // a shorter shape has no channels to move
      result.post.push_back(step);
    }
  }
  return result;
}

}  // namespace benanza::detail
