// SPDX-License-Identifier: Apache-2.0
// The parts of an element-wise expression: what it reads, and its steps in static single assignment. Values have
// numbers: first the inputs, then the steps, each in their order.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/tensor_shape.hpp>
#include <benanza/op/reduction.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace benanza {

/// A tensor that an expression reads.
struct ExpressionInput {
  DataType type = DataType::f32;
  TensorShape shape{};  ///< has the rank of the expression and broadcasts to its dimensions; empty: has all of them
  bool operator==(const ExpressionInput&) const = default;
};

enum class StepKind : std::uint8_t {
  function,    ///< `fn` of one or two operands
  choice,      ///< ONNX Where: the second operand where the first one is true, otherwise the third
  conversion,  ///< ONNX Cast
  reduction,   ///< `reduce` over a row
};
[[nodiscard]] constexpr std::array<std::string_view, 4> enum_names(StepKind) {
  return {"function", "choice", "conversion", "reduction"};
}

struct ExpressionStep {
  StepKind kind = StepKind::function;
  ElementwiseFn fn = ElementwiseFn::relu;
  op::ReduceFn reduce = op::ReduceFn::sum;  ///< mean, sum, max, min, prod, l1 or sum_square
  DataType to = DataType::f32;              ///< of a conversion
  std::array<std::size_t, 3> of{};          ///< numbers of the operands
  double alpha = 0, beta = 0;               ///< as ElementwiseFn says

  [[nodiscard]] constexpr std::size_t operands() const {
    if (kind == StepKind::choice) return 3;
    return kind == StepKind::function && is_binary(fn) ? 2 : 1;
  }
  bool operator==(const ExpressionStep&) const = default;
};

namespace detail {

/// Whether a step may compute with elements of this type.
[[nodiscard]] constexpr bool is_type_of_expressions(DataType type) {
  using enum DataType;
  return type == f32 || type == f16 || type == bf16 || type == f64 || type == i32 || type == i64 || type == boolean;
}

}  // namespace detail

}  // namespace benanza
