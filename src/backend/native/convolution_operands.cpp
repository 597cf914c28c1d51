// SPDX-License-Identifier: Apache-2.0
#include "convolution_operands.hpp"

#include "blocked.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

/// The shape of an operand of the epilogue, with all axes of y.
TensorShape all_axes(const TensorShape& operand) {
  TensorShape padded = TensorShape::filled(4 - operand.size(), 1);
  for (const auto dim : operand) padded.push_back(dim);
  return padded;
}

}  // namespace

bool ConvolutionOperands::in_blocks(const TensorShape& operand) const {
  return shape_.y_blocked() && all_axes(operand)[1] == shape_.all_channels;
}

TensorShape ConvolutionOperands::in_memory(const TensorShape& operand) const {
  const TensorShape padded = all_axes(operand);
  if (!shape_.y_blocked()) return padded;
  const bool blocked = in_blocks(operand);
  return {padded[0], blocked ? shape_.parts * shape_.vectors : 1, padded[2], padded[3], blocked ? shape_.lanes : 1};
}

Layout ConvolutionOperands::layout(const TensorShape& shape, bool blocked) const {
  if (blocked) return Blocked(all_axes(shape), shape_.lanes).layout();
  return {.bytes = static_cast<std::size_t>(element_count(shape)) * sizeof(float)};
}

std::vector<Layout> ConvolutionOperands::inputs(Layout weights) const {
  auto result = plain_layouts(operands_.inputs);
  result[0] = layout(operands_.inputs[0].shape, shape_.x_blocked());
  result[1] = std::move(weights);
  for (std::size_t i = 2; i < result.size(); ++i)
    result[i] = layout(operands_.inputs[i].shape, in_blocks(operands_.inputs[i].shape));
  return result;
}

Layout ConvolutionOperands::output() const { return layout(operands_.outputs[0].shape, shape_.y_blocked()); }

void ConvolutionOperands::pack(std::size_t i, const float* plain, float* packed) const {
  const TensorShape& operand = operands_.inputs[i].shape;
  if (i == 0 ? shape_.x_blocked() : in_blocks(operand)) Blocked(all_axes(operand), shape_.lanes).pack(plain, packed);
  else std::copy_n(plain, element_count(operand), packed);
}

void ConvolutionOperands::unpack_output(const float* packed, float* plain) const {
  const TensorShape& y = operands_.outputs[0].shape;
  if (shape_.y_blocked()) Blocked(y, shape_.lanes).unpack(packed, plain);
  else std::copy_n(packed, element_count(y), plain);
}

std::int64_t ConvolutionOperands::output_position(std::int64_t index) const {
  return shape_.y_blocked() ? Blocked(operands_.outputs[0].shape, shape_.lanes).position(index) : index;
}

}  // namespace benanza::native
