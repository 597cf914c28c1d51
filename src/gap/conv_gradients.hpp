// SPDX-License-Identifier: Apache-2.0
// conv_gradients: the layers that one call of an engine computes of a convolution's gradients.
#pragma once

#include <benanza/model/model_layers.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace benanza::gap {

/// One call of PyTorch makes the gradients of a convolution to its data, weights and bias, those that a model wants of
/// them. `inputs` are the call's: the result's gradient, the operand and the weights. Returns the first free layers
/// that fit, in the model's order; empty where none does.
[[nodiscard]] std::vector<std::size_t> conv_gradients(const LayerGraph& single,
                                                      const std::vector<ProfiledTensor>& inputs,
                                                      const std::function<bool(std::size_t)>& is_free);

}  // namespace benanza::gap
