// SPDX-License-Identifier: Apache-2.0
// ConvolutionOperands: the layouts of a convolution's operands, and their conversion from and to row-major.
#pragma once

#include "convolution_shape.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/plan/backend.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::native {

class ConvolutionOperands {
 public:
  ConvolutionOperands(Operands operands, ConvolutionShape shape)
      : operands_(std::move(operands)), shape_(std::move(shape)) {}

  /// The shape of an operand, or of y, in memory.
  [[nodiscard]] TensorShape in_memory(const TensorShape& operand) const;
  /// Input 1 has the layout `weights`, to which the plan itself converts.
  [[nodiscard]] std::vector<Layout> inputs(Layout weights) const;
  [[nodiscard]] Layout output() const;
  /// Converts an input other than the weights.
  void pack(std::size_t i, const float* plain, float* packed) const;
  void unpack_output(const float* packed, float* plain) const;
  /// The position of an element of row-major y.
  [[nodiscard]] std::int64_t output_position(std::int64_t index) const;

 private:
  /// Whether an operand is in blocks like y. A single channel that is shared by all others is not.
  [[nodiscard]] bool in_blocks(const TensorShape& operand) const;
  [[nodiscard]] Layout layout(const TensorShape& shape, bool blocked) const;

  Operands operands_;
  ConvolutionShape shape_;
};

}  // namespace benanza::native
