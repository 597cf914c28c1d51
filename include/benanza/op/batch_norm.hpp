// SPDX-License-Identifier: Apache-2.0
// Batch normalisation for inference: y = x * scale + shift per channel, both folded from four constant vectors
// beforehand.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/magnitudes.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/epilogue.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct BatchNorm {
  static constexpr std::string_view kind = "BatchNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 1> onnx_types{"BatchNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("post", self.post);
  }
  constexpr bool operator==(const BatchNorm&) const = default;

  /// Training is left to ChannelNorm, and its outputs are ignored. Before opset 9, spatial = 0 normalises every
  /// position with values of its own.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<BatchNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    auto x = detail::batch_channels_inner(x_value.dims);
    if (!x || node.attribute<std::int64_t>("training_mode", 0) != 0) return std::nullopt;
    if (node.opset < 9 && node.attribute<std::int64_t>("spatial", 1) == 0)
      x = TensorShape{(*x)[0], checked_product((*x)[1], (*x)[2]), 1};
    return BatchNorm{.type = x_value.type, .x = *x};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    Operands result{
        .inputs = {{.name = "x", .type = type, .shape = x},
                   {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                   {.name = "b",
                    .type = type,
                    .shape = channels,
                    .constant = true,
                    .exponent = detail::norm_addend_exponent(type)},
                   {.name = "mean", .type = type, .shape = channels, .constant = true},
                   {.name = "var", .type = type, .shape = channels, .constant = true, .contents = Contents::positive}},
        .outputs = {{.name = "y", .type = type, .shape = x}}};
    detail::append_epilogue_operands(result, post, type, x, 1);
    return result;
  }

  /// ONNX BatchNormalization (training_mode = 0): y = (x - mean) / sqrt(var + epsilon) * scale + b, one multiply-add
  /// per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (2.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && detail::fits(post, x); }
};

}  // namespace benanza::op
