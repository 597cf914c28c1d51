// SPDX-License-Identifier: Apache-2.0
// Scaling: scales and zero points of a quantised convolution or matrix product as attributes of its primitive. Their
// values are arguments of the call, so that no kernel can know them beforehand.
#pragma once

#include "draft.hpp"

#include <cstdint>
#include <vector>

namespace benanza::onednn {

class Scaling {
 public:
  /// `channels`: columns or output channels, each with a scale of its own where the weights are constant, along the
  /// dimensions `mask` of the weights; one scale for all where it is 0. Does nothing for layers of other types.
  Scaling(const Layer& layer, std::int64_t channels, int mask, const Parameters& numbers);

  void set(dnnl::primitive_attr& attributes) const;
  /// Adds the arguments and their values to a plan.
  void add(Draft& draft, std::vector<Use>& uses) const;
  /// Adds the bias, input `i` of `count` elements, which oneDNN adds behind the scales: the constant is scaled
  /// beforehand. To be called behind the step that uses it.
  void add_bias(Draft& draft, std::size_t i, std::int64_t count) const;
  [[nodiscard]] bool active() const { return active_; }
  /// Whether both operands are u8: oneDNN takes no such weights, but gets them less 128, as s8, with a zero point that
  /// is less by as much. Not with s8 on the other side: oneDNN shifts that to u8 in turn, and where the processor lacks
  /// VNNI the sum of two such products overflows 16 bits.
  [[nodiscard]] static bool shifts_weights(const Layer& layer);
  /// Takes input `i`, constant weights that a step reads as `packed`, shifted. `plain`: their row-major memory in the
  /// step's dimensions. To be called behind the step.
  static void shift_constant(Draft& draft, std::size_t i, const Desc& plain, const Desc& packed);
  /// Appends a step that shifts input `i`, which has the memory `plain`, in each call; returns where the result lies,
  /// as `plain` does.
  [[nodiscard]] static Slot shift_input(Draft& draft, const dnnl::engine& engine, std::size_t i, const Desc& plain);

 private:
  double x_zero_ = 0, w_zero_ = 0, y_zero_ = 0, rescale_ = 1;
  bool active_, scales_;
  Type y_ = Type::f32;
  std::int64_t channels_;
  int mask_;
};

}  // namespace benanza::onednn
