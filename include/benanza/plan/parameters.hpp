// SPDX-License-Identifier: Apache-2.0
// Parameters: the numbers of a node that affect its results but not its speed. They are not fields of layers; a plan is
// made for given numbers.
#pragma once

#include <benanza/model/quantization.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace benanza {

/// Every plan is measured and checked with the defaults.
struct Parameters {
  double epsilon = 1e-5;  ///< used by normalisations
  double lrn_alpha = 1e-4;
  double lrn_bias = 1;
  std::optional<double> attention_scale{};  ///< empty: 1 / sqrt(depth)
  double attention_softcap = op::Attention::measured_cap;
  double pad_value = 0;
  std::vector<double> resize_scales{};  ///< one for each axis; empty: output size / input size
  std::vector<double> resize_region{};  ///< tf_crop_and_resize: starts, then ends; empty: all of x
  double resize_outside = 0;            ///< value outside x there
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;                  ///< resizing drops the weights of cells beyond the border
  bool select_last_index = false;                ///< used by ArgMax and ArgMin
  std::optional<std::int64_t> ignored_target{};  ///< target that a loss ignores
  double momentum = 0.9;                         ///< used for a channel's running mean and variance
  double box_scale = 1;                          ///< from coordinates of boxes to cells
  double generated_value = 0;                    ///< used by ConstantOfShape
  std::int64_t eye_diagonal = 0;                 ///< column of the first row's one
  bool periodic = true;                          ///< used by windows
  double zero_point_a = 0;                       ///< a: a quantised convolution's or recurrence's x, a product's a
  double zero_point_b = 0;
  double zero_point_y = 0;
  double rescale = 1;  ///< factor of a quantised result: scale of x times scale of w, over the scale of y
  bool operator==(const Parameters&) const = default;
};

/// What a layer is measured and checked with: the defaults, and for a quantised layer the numbers of
/// `quantization(layer)`.
[[nodiscard]] inline Parameters parameters_of(const Layer& layer) {
  const Quantization numbers = quantization(layer);
  Parameters parameters;
  parameters.zero_point_a = numbers.x_zero;
  parameters.zero_point_b = numbers.w_zero;
  parameters.rescale = numbers.rescale;
  return parameters;
}

}  // namespace benanza
