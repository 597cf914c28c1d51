// SPDX-License-Identifier: Apache-2.0
// Gather of whole slices along one axis (an embedding look-up).
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/units.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Gather {
  static constexpr std::string_view kind = "Gather";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Gather"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< outer axis inner
  std::int64_t indices = 1;  ///< how many are looked up; uniform over the axis when measured
  DataType index_type = DataType::i64;
  bool constant = false;  ///< x is constant (an embedding table)

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("index_type", self.index_type);
    visit("constant", self.constant);
  }
  constexpr bool operator==(const Gather&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Gather, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& indices = graph.input(node, 1);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), x_value.dims.size());
    if (!axis) return std::nullopt;
    return Gather{.type = x_value.type,
                  .x = detail::around(x_value.dims, *axis),
                  .indices = indices.elements(),
                  .index_type = indices.type,
                  .constant = x_value.constant};
  }

  /// Only one row is certain to be read: all indices may be equal. The indices of a measurement are uniform.
  [[nodiscard]] Operands operands() const {
    return {
        .inputs =
            {{.name = "data", .type = type, .shape = x, .constant = constant, .touched = checked_product(x[0], x[2])},
             {.name = "indices", .type = index_type, .shape = {indices}, .contents = Contents::indices, .limit = x[1]}},
        .outputs = {{.name = "output", .type = type, .shape = {x[0], indices, x[2]}}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  /// Bytes of x that a call reads whatever its indices are: one row.
  [[nodiscard]] Bytes certain_bytes() const { return {static_cast<double>(operands().inputs[0].touched_bytes())}; }
  /// Bytes of x that a call is expected to read if its indices are independent and uniform over the axis: n of them hit
  /// V (1 - (1 - 1/V)^n) of V rows, since each row is missed with probability (1 - 1/V)^n (the classical
  /// occupancy problem: Feller, An Introduction to Probability Theory and Its Applications, volume 1).
  [[nodiscard]] Bytes expected_bytes() const {
    const auto rows = static_cast<double>(x[1]), count = static_cast<double>(indices);
    return certain_bytes() * (-rows * std::expm1(count * std::log1p(-1 / rows)));
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && detail::is_size(indices); }
};

}  // namespace benanza::op
