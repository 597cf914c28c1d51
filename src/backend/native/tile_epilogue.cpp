// SPDX-License-Identifier: Apache-2.0
#include "tile_epilogue.hpp"

#include <limits>
#include <vector>

namespace benanza::native {

TileEpilogue::TileEpilogue(const Kernels& kernels, const TensorShape& y)
    : least_(-std::numeric_limits<float>::infinity()),
      most_(std::numeric_limits<float>::infinity()),
      rest_(kernels, DataType::f32, y) {
  rest_.add_input(0, DataType::f32, y);
}

std::size_t TileEpilogue::take_first(const Epilogue& post) {
  std::size_t i = 0;
  bias_ = i < post.size() && post[i] == bias;
  i += bias_ ? 1 : 0;
  addend_ = i < post.size() && post[i].fn == ElementwiseFn::add && !post[i].channel && post[i].shape.empty();
  i += addend_ ? 1 : 0;
  if (i == post.size()) return i;
  if (post[i].fn == ElementwiseFn::relu) {
    least_ = 0;
  } else if (post[i].fn == ElementwiseFn::clip) {
    least_ = static_cast<float>(post[i].alpha);
    most_ = static_cast<float>(post[i].beta);
  } else {
    return i;
  }
  return i + 1;
}

bool TileEpilogue::add_binary(const PostOp& step, std::size_t argument, const TensorShape& operand) {
  ++steps_;
  return rest_.add_binary(step.fn, rest_.add_input(argument, DataType::f32, operand), step.swapped);
}
bool TileEpilogue::add_unary(const PostOp& step) {
  ++steps_;
  return rest_.add_unary(step.fn, step.alpha, step.beta);
}

void TileEpilogue::set(TileArguments& tile, const Arguments& arguments, Index bias, Index y, bool whole) const {
  tile.bias = bias_ ? input<float>(arguments, 2) + bias : nullptr;
  tile.addend = whole && addend_ ? input<float>(arguments, bias_ ? 3 : 2) + y : nullptr;
  if (!whole) return;
  tile.least = least_;
  tile.most = most_;
}

void TileEpilogue::finish(const Arguments& arguments, Index begin, Index n, std::byte* scratch) const {
  std::vector<const void*> inputs(arguments.inputs.begin(), arguments.inputs.end());
  inputs[0] = arguments.outputs[0];  // input 0 is the value so far
  rest_.run({.inputs = inputs, .outputs = arguments.outputs}, {}, begin, begin + n, false, scratch);
}

}  // namespace benanza::native
