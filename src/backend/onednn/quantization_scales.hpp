// SPDX-License-Identifier: Apache-2.0
// Quantization scales: scales and zero points of a quantised convolution or matrix product as attributes of its
// primitive. Their values are arguments of the call, so no kernel can know them in advance.
#pragma once

#include "draft.hpp"

#include <cstdint>
#include <vector>

namespace benanza::onednn {

class QuantizationScales {
 public:
  /// `channels`: columns or output channels, each with its own scale if the weights are constant, along the dimensions
  /// `mask` of the weights; a single scale if `mask` is 0. Does nothing for layers of other types.
  QuantizationScales(const Layer& layer, std::int64_t channels, int mask, const Parameters& numbers);

  void set(dnnl::primitive_attr& attributes) const;
  /// Adds the arguments and their values to a plan.
  void add(Draft& draft, std::vector<Use>& uses) const;
  /// Adds the bias, input `i` of `count` elements, which oneDNN adds after the scales: the constant is scaled
  /// beforehand. Call it after the step that uses the bias is added.
  void add_bias(Draft& draft, std::size_t i, std::int64_t count) const;
  [[nodiscard]] bool active() const { return active_; }
  /// Whether both operands are u8. oneDNN does not take such weights, so it receives them minus 128, as s8, with a zero
  /// point lowered by the same amount. Not done with s8 on the other side: oneDNN shifts that to u8 in turn, and if the
  /// processor lacks VNNI, the sum of two such products overflows 16 bits.
  [[nodiscard]] static bool shifts_weights(const Layer& layer);
  /// Takes input `i`, constant weights that a step reads as `packed`, in shifted form. `plain` is their row-major
  /// memory in the step's dimensions. Call it after the step is added.
  static void shift_constant(Draft& draft, std::size_t i, const Desc& plain, const Desc& packed);
  /// Appends a step that shifts input `i`, which has the memory `plain`, in each call; returns the location of the
  /// result, which has the layout of `plain`.
  [[nodiscard]] static Slot shift_input(Draft& draft, const dnnl::engine& engine, std::size_t i, const Desc& plain);

 private:
  double x_zero_ = 0, w_zero_ = 0, y_zero_ = 0, rescale_ = 1;
  bool active_, scales_;
  Type y_ = Type::f32;
  std::int64_t channels_;
  int mask_;
};

}  // namespace benanza::onednn
