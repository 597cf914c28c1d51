// SPDX-License-Identifier: Apache-2.0
// conv_gradients: which of a convolution's gradient layers one call of an engine computes.
#pragma once

#include <benanza/model/model_layers.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace benanza::gap {

/// One PyTorch call computes the gradients of a convolution with respect to its data, weights and bias, as many of them
/// as the model wants. `inputs` are those of the call: the gradient of the result, the operand and the weights. Returns
/// the first free layers that fit, in the model's order; empty if none fits.
[[nodiscard]] std::vector<std::size_t> conv_gradients(const LayerGraph& single,
                                                      const std::vector<ProfiledTensor>& inputs,
                                                      const std::function<bool(std::size_t)>& is_free);

}  // namespace benanza::gap
