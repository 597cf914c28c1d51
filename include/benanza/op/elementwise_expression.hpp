// SPDX-License-Identifier: Apache-2.0
// Expression: any connected graph of element-wise functions, broadcasts, casts and choices, and of reductions over
// rows, as one layer. Fusion makes it; no ONNX operator is one.
#pragma once

#include <benanza/model/expression.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

/// All elements have coordinates in the dimensions `x`. The first `rows` dimensions number rows; a reduction has one
/// result for each row, which later steps may broadcast to the row again.
struct Expression {
  static constexpr std::string_view kind = "Expression";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 0> onnx_types{};
  static constexpr std::size_t most_inputs = 24, most_steps = 64;
  DataType type =
      DataType::f32;  ///< the floating-point type with the most arithmetic; without any, that of the first input
  TensorShape x{};
  std::int64_t rows = 0;
  std::vector<ExpressionInput> in{};
  std::vector<ExpressionStep> steps{};
  TensorShape out{};  ///< the numbers of the steps that are written

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("rows", self.rows);
    visit("in", self.in);
    visit("steps", self.steps);
    visit("out", self.out);
  }
  bool operator==(const Expression&) const = default;

  /// What is known about an input or a step.
  struct Value {
    DataType type = DataType::f32;
    bool by_row = false;  ///< one element for each row
  };
  /// In the order of their numbers. Empty if a step has operands that do not exist or do not fit.
  [[nodiscard]] std::vector<Value> values() const;
  /// `x`, with 1 in place of the dimensions that rows consist of.
  [[nodiscard]] TensorShape row_shape() const;
  /// The type that `type` must be.
  [[nodiscard]] DataType own_type() const;

  [[nodiscard]] static std::optional<Expression> from(const Node&, const Graph&) { return std::nullopt; }

  /// An input that only chooses between two tensors may be read at no element, as with op::Where.
  [[nodiscard]] Operands operands() const;

  /// One operation per step and element of what its operands broadcast to, two for reductions that first take a
  /// magnitude or a square.
  /// Steps on operands of other types than `type` do not count, since they have other peaks.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/elementwise_expression_inl.hpp>
#endif
