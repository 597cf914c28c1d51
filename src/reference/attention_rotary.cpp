// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"

namespace benanza::reference {

/// ONNX RotaryEmbedding: (a, b) becomes (a cos - b sin, b cos + a sin).
Elements compute(const op::Rotary& rotary, const Query& query) {
  const std::int64_t depth = rotary.turned_depth(), pairs = depth / 2, angles = rotary.angles.back();
  const ConstTensor& x = query.input(0);
  return query.map([&](std::int64_t flat) {
    TensorShape at = coordinates(rotary.x, flat);
    const std::int64_t place = at.back(), row = flat - place;
    if (place >= depth) return x[flat];
    const bool is_second = rotary.interleaved ? place % 2 == 1 : place >= pairs;
    const std::int64_t distance = rotary.interleaved ? 1 : pairs;
    const std::int64_t partner = is_second ? place - distance : place + distance;
    const std::int64_t pair = rotary.interleaved ? place / 2 : place % pairs;
    at[at.size() - 1] = angles == depth ? place : pair;
    const std::int64_t angle = broadcast_index(rotary.angles, at);
    const double turn = x[row + partner] * query.input(2)[angle];
    return x[flat] * query.input(1)[angle] + (is_second ? turn : -turn);
  });
}

}  // namespace benanza::reference
