// SPDX-License-Identifier: Apache-2.0
// Determinants of square matrices.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Det {
  static constexpr std::string_view kind = "Det";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"Det"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< matrices rows rows

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
  }
  constexpr bool operator==(const Det&) const = default;

  [[nodiscard]] static std::optional<Det> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;
  [[nodiscard]] bool consistent() const;
};

BENANZA_INLINE std::optional<Det> Det::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  if (dims.size() < 2) return std::nullopt;
  return Det{.type = x_value.type,
             .x = {detail::product(dims, 0, dims.size() - 2), dims[dims.size() - 2], dims.back()}};
}

BENANZA_INLINE Operands Det::operands() const {
  return {.inputs = {{.name = "X", .type = type, .shape = x}},
          .outputs = {{.name = "Y", .type = type, .shape = {x[0]}}}};
}

BENANZA_INLINE Arithmetic Det::arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

BENANZA_INLINE bool Det::consistent() const { return detail::are_sizes(x, 3) && x[1] == x[2]; }

}  // namespace benanza::op
