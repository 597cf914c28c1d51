// SPDX-License-Identifier: Apache-2.0
// Cost: the arithmetic and the compulsory bytes of one layer, each distinct element counted once.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/op/operator.hpp>

#include <cstdint>

namespace benanza {

struct Cost {
  std::int64_t macs = 0;  ///< nominal multiply-adds
  Flops flops{};          ///< of the direct algorithm, in-range taps only
  Flops least_flops{};    ///< of any known algorithm: less for convolutions and pools
  Bytes weights{};        ///< constant operands
  Bytes activations{};    ///< the other operands
  Bytes written{};

  [[nodiscard]] constexpr Bytes bytes() const { return weights + activations + written; }
  /// FLOPs per byte, the x axis of the roofline.
  [[nodiscard]] constexpr double intensity() const { return bytes().value == 0 ? 0 : flops.value / bytes().value; }
};

/// The cost of an operator from what it does.
[[nodiscard]] inline Cost cost(const Arithmetic& arithmetic, const Operands& operands) {
  Cost result{.macs = arithmetic.macs,
              .flops = {arithmetic.flops},
              .least_flops = {arithmetic.least_flops.value_or(arithmetic.flops)}};
  for (const auto& input : operands.inputs) {
    const Bytes bytes{static_cast<double>(input.touched_bytes())};
    (input.constant ? result.weights : result.activations) += bytes;
  }
  for (const auto& output : operands.outputs) result.written += {static_cast<double>(output.touched_bytes())};
  return result;
}
template <Operator Op>
[[nodiscard]] Cost cost(const Op& op) {
  return cost(op.arithmetic(), op.operands());
}

}  // namespace benanza
