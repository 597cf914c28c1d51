// SPDX-License-Identifier: Apache-2.0
#include "conv_gradients.hpp"

#include <benanza/model/layer.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <variant>

namespace benanza::gap {

namespace {

std::int64_t elements_of(const std::vector<std::int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::vector<std::size_t> conv_gradients(const LayerGraph& single, const std::vector<ProfiledTensor>& inputs,
                                        const std::function<bool(std::size_t)>& is_free) {
  if (inputs.size() < 3) return {};
  const std::int64_t of_result = elements_of(inputs[0].dims), of_data = elements_of(inputs[1].dims),
                     of_weights = elements_of(inputs[2].dims);
  const auto size = [&](std::size_t tensor) { return elements_of(single.tensors[tensor].dims); };
  for (std::size_t i = 0; i < single.layers.size(); ++i) {
    const Occurrence& at = single.layers[i];
    if (!is_free(i) || !std::holds_alternative<op::ConvGradient>(*at.layer)) continue;
    if (at.inputs.size() < 2 || !at.inputs[0] || !at.inputs[1] || at.outputs.empty()) continue;
    const std::int64_t a = size(*at.inputs[0]), b = size(*at.inputs[1]), made = size(at.outputs[0]);
    const bool data = a == of_result && b == of_weights && made == of_data;
    const bool weights = a == of_data && b == of_result && made == of_weights;
    if (!data && !weights) continue;
    const auto gradient = at.inputs[data ? 0 : 1];
    std::vector<std::size_t> result;
    for (std::size_t k = 0; k < single.layers.size(); ++k) {
      const Occurrence& other = single.layers[k];
      const bool may_be =
          std::holds_alternative<op::ConvGradient>(*other.layer) || std::holds_alternative<op::Reduce>(*other.layer);
      if (may_be && is_free(k) && std::find(other.inputs.begin(), other.inputs.end(), gradient) != other.inputs.end())
        result.push_back(k);
    }
    return result;
  }
  return {};
}

}  // namespace benanza::gap
