// SPDX-License-Identifier: Apache-2.0
// ConvolutionPlan: what all plans of convolutions share, which is the conversion of their operands.
#pragma once

#include "convolution_operands.hpp"

#include <utility>

namespace benanza::native {

class ConvolutionPlan : public Plan {
 protected:
  ConvolutionPlan(Description description, ConvolutionOperands operands)
      : Plan(std::move(description)), operands_(std::move(operands)) {}

 private:
  /// Converts input 1 to the plan's layout.
  virtual void pack_weights(const float* w, float* packed) const = 0;

  void do_pack_input(std::size_t i, const void* plain, void* packed) const final {
    const auto* const from = static_cast<const float*>(plain);
    auto* const to = static_cast<float*>(packed);
    if (i == 1) pack_weights(from, to);
    else operands_.pack(i, from, to);
  }
  void do_unpack_output(std::size_t, const void* packed, void* plain) const final {
    operands_.unpack_output(static_cast<const float*>(packed), static_cast<float*>(plain));
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t, std::int64_t index) const final {
    return operands_.output_position(index);
  }

  ConvolutionOperands operands_;
};

}  // namespace benanza::native
