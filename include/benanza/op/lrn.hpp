// SPDX-License-Identifier: Apache-2.0
// Local response normalisation across channels (AlexNet, GoogLeNet).
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Lrn {
  static constexpr std::string_view kind = "Lrn";
  static constexpr Family family = Family::normalization;
  static constexpr std::array<std::string_view, 1> onnx_types{"LRN"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< N C inner (spatial dimensions folded)
  std::int64_t size = 5;
  double beta = 0.75;  ///< affects the speed: x^-0.75 is two square roots

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("size", self.size);
    visit("beta", self.beta);
  }
  constexpr bool operator==(const Lrn&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Lrn, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto x = detail::batch_channels_inner(x_value.dims);
    if (!x) return std::nullopt;
    return Lrn{.type = x_value.type,
               .x = *x,
               .size = node.attribute<std::int64_t>("size", 1),
               .beta = detail::decimal(node.attribute<double>("beta", 0.75))};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x}}, .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX LRN: y = x / (bias + alpha / size * sum of x^2 over `size` channels) ^ beta. Square, running sum (add and
  /// subtract), multiply-add, power, division: 7 operations per element. Alpha is 1e-4 and bias is 1 in checks.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 7.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && detail::is_size(size) && beta == beta;
  }
};

}  // namespace benanza::op
