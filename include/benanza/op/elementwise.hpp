// SPDX-License-Identifier: Apache-2.0
// Functions of each element by itself.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/detail/unary_functions.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::detail {

/// Quantised forms. ONNX Runtime has the first two; `fold_quantization` creates the others, which follow their pattern.
inline constexpr std::array<std::string_view, 12> quantized_unary_types{
    "com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearSigmoid", "com.microsoft.QLinearClip",
    "com.microsoft.QLinearElu",       "com.microsoft.QLinearGelu",    "com.microsoft.QLinearHardSigmoid",
    "com.microsoft.QLinearHardSwish", "com.microsoft.QLinearMish",    "com.microsoft.QLinearRelu",
    "com.microsoft.QLinearSoftplus",  "com.microsoft.QLinearSwish",   "com.microsoft.QLinearTanh"};

consteval auto unary_types() {
  std::array<std::string_view, unary_functions.size() + 4 + quantized_unary_types.size()> types{};
  std::size_t count = 0;
  for (const auto& row : unary_functions) types[count++] = row.onnx_type;
  for (const auto* type : {"Clip", "Pow", "Mul", "SwiGLU"}) types[count++] = type;
  for (auto type : quantized_unary_types) types[count++] = type;
  return types;
}
}  // namespace benanza::detail

namespace benanza::op {

/// Element-wise function of one tensor. Without an epilogue the shape is one flat dimension, so that equal work has an
/// equal signature.
struct Unary {
  static constexpr std::string_view kind = "Unary";
  static constexpr Family family = Family::elementwise;
  static constexpr auto onnx_types = detail::unary_types();
  DataType type = DataType::f32;
  ElementwiseFn fn = ElementwiseFn::relu;
  TensorShape x{};
  double alpha = 0;
  double beta = 0;
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
    visit("alpha", self.alpha);
    visit("beta", self.beta);
    visit("post", self.post);
  }
  constexpr bool operator==(const Unary&) const = default;

  /// Also reads Clip with known bounds, Pow with an exponent that has a function of its own, the product of a tensor
  /// with itself, and SwiGLU: Swish, times the other operand.
  [[nodiscard]] static std::optional<Unary> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// One operation per element and function: the least that any implementation needs.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// A bound of Clip: attribute (before opset 11) or input. Infinite if it is left out, nothing if it is computed at
  /// run time.
  [[nodiscard]] static std::optional<double> bound(const Node& node, const Graph& graph, std::string_view key,
                                                   std::size_t i, std::size_t given);
};

}  // namespace benanza::op

namespace benanza::detail {

struct BinaryFunction {
  std::string_view onnx_type;
  ElementwiseFn fn;
  bool commutes = false;
};
inline constexpr std::array binary_functions{
    BinaryFunction{"Add", ElementwiseFn::add, true},
    BinaryFunction{"And", ElementwiseFn::logical_and, true},
    BinaryFunction{"BitShift", ElementwiseFn::shift_left},
    BinaryFunction{"BitwiseAnd", ElementwiseFn::bitwise_and, true},
    BinaryFunction{"BitwiseOr", ElementwiseFn::bitwise_or, true},
    BinaryFunction{"BitwiseXor", ElementwiseFn::bitwise_xor, true},
    BinaryFunction{"Div", ElementwiseFn::div},
    BinaryFunction{"Equal", ElementwiseFn::equal, true},
    BinaryFunction{"Greater", ElementwiseFn::greater},
    BinaryFunction{"GreaterOrEqual", ElementwiseFn::greater_or_equal},
    BinaryFunction{"Less", ElementwiseFn::less},
    BinaryFunction{"LessOrEqual", ElementwiseFn::less_or_equal},
    BinaryFunction{"Max", ElementwiseFn::max, true},
    BinaryFunction{"Min", ElementwiseFn::min, true},
    BinaryFunction{"Mod", ElementwiseFn::mod},
    BinaryFunction{"Mul", ElementwiseFn::mul, true},
    BinaryFunction{"Or", ElementwiseFn::logical_or, true},
    BinaryFunction{"Pow", ElementwiseFn::pow},
    BinaryFunction{"PRelu", ElementwiseFn::prelu},
    BinaryFunction{"Sub", ElementwiseFn::sub},
    BinaryFunction{"Sum", ElementwiseFn::add, true},
    BinaryFunction{"Xor", ElementwiseFn::logical_xor, true},
    BinaryFunction{"com.microsoft.QLinearAdd", ElementwiseFn::add, true},
    BinaryFunction{"com.microsoft.QLinearMul", ElementwiseFn::mul, true},
    BinaryFunction{"com.microsoft.BiasGelu", ElementwiseFn::add, true},
    BinaryFunction{"com.microsoft.FastGelu", ElementwiseFn::add, true},
    BinaryFunction{"Clip", ElementwiseFn::max},
};
consteval auto binary_types() {
  std::array<std::string_view, binary_functions.size()> types{};
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = binary_functions[i].onnx_type;
  return types;
}
}  // namespace benanza::detail

namespace benanza::op {

/// Element-wise function of two tensors with broadcasting. Adjacent dimensions that broadcast in the same way are
/// folded. If the function commutes, the larger operand comes first.
struct Binary {
  static constexpr std::string_view kind = "Binary";
  static constexpr Family family = Family::elementwise;
  static constexpr auto onnx_types = detail::binary_types();
  DataType type = DataType::f32;
  ElementwiseFn fn = ElementwiseFn::add;
  TensorShape a{};
  TensorShape b{};      ///< has the same rank as a
  bool same = false;    ///< a and b are one tensor (x * x)
  bool scaled = false;  ///< quantised operands, each with a scale: computed in floats, rounded and saturated
  Epilogue post{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("a", self.a);
    visit("b", self.b);
    visit("same", self.same);
    visit("scaled", self.scaled);
    visit("post", self.post);
  }
  constexpr bool operator==(const Binary&) const = default;

  /// Also reads Sum, Max and Min of two operands, a bias before an activation, and a Clip whose bounds are computed at
  /// run time.
  [[nodiscard]] static std::optional<Binary> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr TensorShape y() const { return broadcast(a, b); }

  [[nodiscard]] Operands operands() const;

  /// One operation per element and function.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// The maximum of each element and a scalar, then the minimum of that and another scalar.
  [[nodiscard]] static std::optional<Binary> clip(const Node& node, const Graph& graph);
  /// Before opset 7 the second operand was aligned at an axis, not at the last dimension. The slope of PRelu was
  /// aligned at the channels.
  [[nodiscard]] static detail::Dims aligned(const Node& node, const detail::Dims& a, detail::Dims b);
  /// If the function commutes, the larger operand comes first.
  [[nodiscard]] static bool before(const TensorShape& left, const TensorShape& right);
};

/// Sum, Max and Min of three or more tensors, Mean of two or more. Shapes are one flat dimension.
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

  [[nodiscard]] static std::optional<Nary> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX Sum: count - 1 operations per element. Mean has one more.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Where: a choice by a condition, with broadcasting. Adjacent dimensions that broadcast in the same way are folded.
struct Where {
  static constexpr std::string_view kind = "Where";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 1> onnx_types{"Where"};
  DataType type = DataType::f32;
  TensorShape c{};  ///< condition, bool
  TensorShape x{};  ///< taken where true; all three have the same rank
  TensorShape y{};  ///< taken where false

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("c", self.c);
    visit("x", self.x);
    visit("y", self.y);
  }
  constexpr bool operator==(const Where&) const = default;

  [[nodiscard]] static std::optional<Where> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr TensorShape output() const { return broadcast(broadcast(c, x), y); }

  /// The condition may select the smaller of x and y everywhere: no element of the other is certain to be read.
  [[nodiscard]] Operands operands() const;

  /// ONNX Where: one choice per element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Cast from one element type to another.
struct Cast {
  static constexpr std::string_view kind = "Cast";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 2> onnx_types{"Cast", "CastLike"};
  DataType type = DataType::f32;
  DataType to = DataType::f32;
  TensorShape x{};  ///< one flat dimension

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("to", self.to);
    visit("x", self.x);
  }
  constexpr bool operator==(const Cast&) const = default;

  [[nodiscard]] static std::optional<Cast> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// One conversion per element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/elementwise_inl.hpp>
#endif
