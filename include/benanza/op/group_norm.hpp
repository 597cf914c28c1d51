// SPDX-License-Identifier: Apache-2.0
// Group normalisation. Instance normalisation has one group per channel.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/magnitudes.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct GroupNorm {
  static constexpr std::string_view kind = "GroupNorm";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 2> onnx_types{"GroupNormalization", "InstanceNormalization"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  std::int64_t groups = 1;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("groups", self.groups);
  }
  constexpr bool operator==(const GroupNorm&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<GroupNorm, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    if (!x) return std::nullopt;
    const bool instance = node.op_type == "InstanceNormalization";
    return GroupNorm{
        .type = x_value.type, .x = *x, .groups = instance ? (*x)[1] : node.attribute<std::int64_t>("num_groups", 1)};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape channels{x[1]};
    return {
        .inputs = {{.name = "x", .type = type, .shape = x},
                   {.name = "scale", .type = type, .shape = channels, .constant = true, .contents = Contents::positive},
                   {.name = "b",
                    .type = type,
                    .shape = channels,
                    .constant = true,
                    .exponent = detail::norm_addend_exponent(type)}},
        .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX GroupNormalization and InstanceNormalization: mean (1 operation per element), variance (2), one multiply-add
  /// (2). Checks use an epsilon of 1e-5.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 5.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && detail::is_size(groups) && x[1] % groups == 0;
  }
};

}  // namespace benanza::op
