// SPDX-License-Identifier: Apache-2.0
// Sum, Max and Min of three or more tensors, Mean of two or more. Shapes are one flat dimension.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Nary {
  static constexpr std::string_view kind = "Nary";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 4> onnx_types{"Sum", "Mean", "Max", "Min"};
  DataType type = DataType::f32;
  ElementwiseFn fn = ElementwiseFn::add;  ///< add, max or min
  TensorShape x{};                        ///< shape of every operand (broadcast operands are counted whole)
  std::int64_t count = 3;                 ///< operands
  bool mean = false;                      ///< divide the sum by count

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
    visit("count", self.count);
    visit("mean", self.mean);
  }
  constexpr bool operator==(const Nary&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Nary, decltype(graph)> {
    const bool mean = node.op_type == "Mean";
    const std::size_t count = node.inputs.size();
    if (count < (mean ? 2 : 3)) return std::nullopt;
    const Value& y = graph.output(node, 0);
    const auto fn = node.op_type == "Max"   ? ElementwiseFn::max
                    : node.op_type == "Min" ? ElementwiseFn::min
                                            : ElementwiseFn::add;
    return Nary{.type = y.type, .fn = fn, .x = {y.elements()}, .count = static_cast<std::int64_t>(count), .mean = mean};
  }

  [[nodiscard]] Operands operands() const {
    Operands result{.outputs = {{.name = "y", .type = type, .shape = x}}};
    for (std::int64_t i = 0; i < count; ++i) result.inputs.push_back({.name = "x", .type = type, .shape = x});
    return result;
  }

  /// ONNX Sum: count - 1 operations per element. Mean has one more.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = static_cast<double>(count - 1 + (mean ? 1 : 0)) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return (fn == ElementwiseFn::add || fn == ElementwiseFn::max || fn == ElementwiseFn::min) &&
           (!mean || fn == ElementwiseFn::add) && detail::are_sizes(x) && count >= 2 && count <= 4096;
  }
};

}  // namespace benanza::op
