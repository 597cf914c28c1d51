// SPDX-License-Identifier: Apache-2.0
// Blocked: activations N C H W in blocks of as many channels as a vector has lanes, N C/lanes H W lanes. The last block
// is padded with zeros.
#pragma once

#include "kernels.hpp"
#include <benanza/model/tensor_shape.hpp>
#include <benanza/plan/backend.hpp>

namespace benanza::native {

struct Blocked {
  Index images = 1, channels = 1, plane = 1, lanes = 1;

  /// The blocks of a tensor N C H W, or of one that broadcasts to such a tensor.
  Blocked(const TensorShape& shape, Index lanes_of_vector);
  [[nodiscard]] Index blocks() const { return (channels + lanes - 1) / lanes; }
  [[nodiscard]] Layout layout() const;
  /// The position of an element of the row-major tensor in this layout.
  [[nodiscard]] Index position(Index index) const;
  void pack(const float* plain, float* packed) const;
  void unpack(const float* packed, float* plain) const;

 private:
  template <class Visit>
  void each_block(Visit visit) const;
};

}  // namespace benanza::native
