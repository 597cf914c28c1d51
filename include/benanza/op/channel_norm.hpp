// SPDX-License-Identifier: Apache-2.0
// Normalisation of each channel by its own mean and variance over all images: BatchNormalization in training, and
// MeanVarianceNormalization.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

struct ChannelNorm {
  static constexpr std::string_view kind = "ChannelNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"BatchNormalization", "MeanVarianceNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};       ///< outer channels inner
  bool affine = true;    ///< channels have a scale and a shift
  bool running = false;  ///< mean and variance are mixed with those of earlier calls, and are results too

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("affine", self.affine);
    visit("running", self.running);
  }
  constexpr bool operator==(const ChannelNorm&) const = default;

  /// Nothing if the axes that are kept are not adjacent.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<ChannelNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    if (node.op_type == "BatchNormalization") {
      const auto x = detail::batch_channels_inner(dims);
      if (!x) return std::nullopt;
      return ChannelNorm{.type = x_value.type, .x = *x, .running = node.has_output(1) && node.has_output(2)};
    }
    std::vector<bool> kept(dims.size(), true);
    for (auto given : node.attribute<detail::Dims>("axes", {0, 2, 3})) {
      const auto axis = detail::to_axis(given, dims.size());
      if (!axis) return std::nullopt;
      kept[*axis] = false;
    }
    const auto first = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), true) - kept.begin());
    const auto past = static_cast<std::size_t>(
        std::find(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), false) - kept.begin());
    if (std::find(kept.begin() + static_cast<std::ptrdiff_t>(past), kept.end(), true) != kept.end())
      return std::nullopt;
    return ChannelNorm{.type = x_value.type,
                       .x = {detail::product(dims, 0, first), detail::product(dims, first, past),
                             detail::product(dims, past, dims.size())},
                       .affine = false};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                    .outputs = {{.name = "y", .type = type, .shape = x}}};
    const auto add_input = [&](std::string_view name, Contents contents) {
      result.inputs.push_back({.name = name, .type = type, .shape = channels, .contents = contents});
    };
    if (affine) {
      add_input("scale", Contents::positive);
      add_input("b", Contents::uniform);
    }
    if (running) {
      add_input("input_mean", Contents::uniform);
      add_input("input_var", Contents::positive);
      result.outputs.push_back({.name = "running_mean", .type = type, .shape = channels});
      result.outputs.push_back({.name = "running_var", .type = type, .shape = channels});
    }
    return result;
  }

  /// ONNX BatchNormalization (training_mode = 1) and MeanVarianceNormalization: mean (1 operation per element),
  /// variance (2), one multiply-add (2).
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && (affine || !running); }
};

}  // namespace benanza::op
