// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime's optimiser writes into its own nodes: a fused activation, and channels as the last dimension.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/epilogue.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::detail {

/// Whether a window operator has channels as the last dimension instead of the second.
[[nodiscard]] inline bool has_channels_last(const Node& node) {
  return node.attribute<std::int64_t>("channels_last", 0) != 0 || node.op_type.starts_with("Nhwc");
}

/// Dimensions as N C spatial..., if the node has them as N spatial... C.
[[nodiscard]] inline Dims channels_first(const Node& node, Dims dims) {
  if (has_channels_last(node) && dims.size() > 2) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}

/// Appends the activation that the attributes name. False if it is not known.
[[nodiscard]] inline bool append_activation(Epilogue& post, const Node& node) {
  struct Activation {
    std::string_view name;
    ElementwiseFn fn;
    double alpha = 0, beta = 0;  // defaults
  };
  constexpr std::array activations{Activation{"Clip", ElementwiseFn::clip},
                                   Activation{"HardSigmoid", ElementwiseFn::hard_sigmoid, 0.2, 0.5},
                                   Activation{"HardSwish", ElementwiseFn::hard_swish},
                                   Activation{"LeakyRelu", ElementwiseFn::leaky_relu, 0.01},
                                   Activation{"Relu", ElementwiseFn::relu},
                                   Activation{"Sigmoid", ElementwiseFn::sigmoid},
                                   Activation{"Tanh", ElementwiseFn::tanh}};
  const std::string name = node.attribute<std::string>("activation", "");
  if (name.empty()) return true;
  const auto found =
      std::find_if(activations.begin(), activations.end(), [&](const auto& a) { return a.name == name; });
  if (found == activations.end()) return false;
  const auto parameters = node.attribute<std::vector<double>>("activation_params", {});
  const auto parameter = [&](std::size_t i, std::string_view key, double otherwise) {
    return decimal(i < parameters.size() ? parameters[i] : node.attribute<double>(key, otherwise));
  };
  PostOp step{found->fn};
  if (found->fn == ElementwiseFn::clip || found->alpha != 0)
    step.alpha = parameter(0, "activation_alpha", found->alpha);
  if (found->fn == ElementwiseFn::clip || found->beta != 0) step.beta = parameter(1, "activation_beta", found->beta);
  post.push_back(step);
  return true;
}

}  // namespace benanza::detail
