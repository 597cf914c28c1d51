// SPDX-License-Identifier: Apache-2.0
// Functions of each element by itself.
#pragma once

#include <benanza/detail/collapse.hpp>
#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/unary_functions.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Unary, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    Unary unary{.type = x_value.type, .x = {x_value.elements()}};
    constexpr std::string_view quantized = "com.microsoft.QLinear";
    std::string type = detail::onnx_type(node);
    if (type.starts_with(quantized)) type.erase(0, quantized.size());
    if (type == "Clip") {
      const std::size_t given = node.op_type == type ? node.inputs.size() : 0;  // quantised: attributes only
      const auto lower = bound(node, graph, "min", 1, given), upper = bound(node, graph, "max", 2, given);
      if (!lower || !upper) return std::nullopt;
      unary.fn =
          *lower == 0 && *upper == std::numeric_limits<double>::infinity() ? ElementwiseFn::relu : ElementwiseFn::clip;
      if (unary.fn == ElementwiseFn::clip) unary.alpha = *lower, unary.beta = *upper;
      return unary;
    }
    if (node.op_type == "Mul") {
      unary.fn = ElementwiseFn::square;
      return detail::is_same_input(node, 0, 1) ? std::optional(unary) : std::nullopt;
    }
    if (node.op_type == "Pow") {
      const auto exponent = detail::scalar(graph.input(node, 1));
      if (graph.input(node, 1).dims.size() > x_value.dims.size()) return std::nullopt;
      if (exponent == 2.0) unary.fn = ElementwiseFn::square;
      else if (exponent == 0.5) unary.fn = ElementwiseFn::sqrt;
      else if (exponent == -1.0) unary.fn = ElementwiseFn::reciprocal;
      else return std::nullopt;
      return unary;
    }
    if (type == "SwiGLU") {
      unary.fn = ElementwiseFn::swish;
      unary.alpha = detail::decimal(node.attribute<double>("alpha", 1));
      unary.post.push_back({ElementwiseFn::mul});
      return unary;
    }
    if (node.op_type == "FastGelu" && node.has_input(1)) return std::nullopt;  // adds a bias first
    for (const auto& row : detail::unary_functions) {
      if (row.onnx_type != type) continue;
      unary.fn = row.fn;
      if (!row.alpha_key.empty()) unary.alpha = detail::decimal(node.attribute<double>(row.alpha_key, row.alpha));
      if (!row.beta_key.empty()) unary.beta = detail::decimal(node.attribute<double>(row.beta_key, row.beta));
      if (unary.fn == ElementwiseFn::gelu && node.attribute<std::string>("approximate", "none") == "tanh")
        unary.fn = ElementwiseFn::gelu_tanh;
      return unary;
    }
    return std::nullopt;
  }

  [[nodiscard]] Operands operands() const {
    const DataType result_type = is_predicate(fn) ? DataType::boolean : type;
    Operands result{.inputs = {{.name = "x",
                                .type = type,
                                .shape = x,
                                .contents = type == DataType::boolean ? Contents::boolean : Contents::uniform}},
                    .outputs = {{.name = "y", .type = result_type, .shape = x}}};
    if (needs_positive(fn)) result.inputs[0].contents = Contents::positive;
    if (fn == ElementwiseFn::acosh) result.inputs[0].exponent = 1;  // it is defined from 1 on
    detail::append_epilogue_operands(result, post, result_type, x, 0);
    return result;
  }

  /// One operation per element and function: the least that any implementation needs.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (1.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return !is_binary(fn) && detail::are_sizes(x) && alpha == alpha && beta == beta && detail::fits(post, x);
  }

 private:
  /// A bound of Clip: attribute (before opset 11) or input. Infinite if it is left out, nothing if it is computed at
  /// run time.
  [[nodiscard]] static std::optional<double> bound(const Node& node, const AnyGraph auto& graph, std::string_view key,
                                                   std::size_t i, std::size_t given) {
    const bool is_lower = i == 1;
    std::optional<double> value =
        is_lower ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    if (node.attributes.contains(key)) value = node.attribute<double>(key, 0);
    else if (const Value* input = i < given ? detail::optional_input(node, graph, i) : nullptr)
      value = detail::scalar(*input);
    if (!value || *value != *value) return std::nullopt;
    constexpr double largest = std::numeric_limits<float>::max();  // older operator sets express "no bound" this way
    if (std::fabs(*value) >= largest)
      return *value < 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return detail::decimal(*value);
  }
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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Binary, decltype(graph)> {
    const std::string type = detail::onnx_type(node);
    const auto row = std::find_if(detail::binary_functions.begin(), detail::binary_functions.end(),
                                  [&](const auto& r) { return r.onnx_type == type; });
    if (type == "Clip") return clip(node, graph);
    const bool quantized = type.starts_with("com.microsoft.QLinear");
    if (row == detail::binary_functions.end() || (!quantized && node.inputs.size() != 2)) return std::nullopt;
    const std::size_t second = quantized ? 3 : 1;
    const Value& a_value = graph.input(node, 0);
    Binary binary{
        .type = a_value.type, .fn = row->fn, .same = detail::is_same_input(node, 0, second), .scaled = quantized};
    if (type == "Mod" && node.attribute<std::int64_t>("fmod", 0) != 0) binary.fn = ElementwiseFn::fmod;
    if (type == "BitShift" && node.attribute<std::string>("direction", "LEFT") == "RIGHT")
      binary.fn = ElementwiseFn::shift_right;
    const auto operands = detail::collapse(
        std::vector<detail::Dims>{a_value.dims, aligned(node, a_value.dims, graph.input(node, second).dims)});
    auto a = detail::to_shape(operands[0]), b = detail::to_shape(operands[1]);
    if (!a || !b) return std::nullopt;
    if (row->commutes && before(*b, *a)) std::swap(a, b);
    binary.a = *a;
    binary.b = *b;
    if (node.op_type == "BiasGelu") binary.post.push_back(ElementwiseFn::gelu);
    if (node.op_type == "FastGelu") binary.post.push_back(ElementwiseFn::gelu_tanh);
    return binary;
  }

  [[nodiscard]] constexpr TensorShape y() const { return broadcast(a, b); }

  [[nodiscard]] Operands operands() const {
    const DataType result_type = is_predicate(fn) ? DataType::boolean : type;
    const auto contents = type == DataType::boolean ? Contents::boolean : Contents::uniform;
    using enum ElementwiseFn;
    Operands result{
        .inputs = {{.name = "a", .type = type, .shape = a, .contents = fn == pow ? Contents::positive : contents}},
        .outputs = {{.name = "y", .type = result_type, .shape = y()}}};
    if (!same)
      result.inputs.push_back({.name = "b",
                               .type = type,
                               .shape = b,
                               .contents = fn == div || fn == mod || fn == fmod ? Contents::positive : contents});
    detail::append_epilogue_operands(result, post, result_type, y(), 0);
    return result;
  }

  /// One operation per element and function.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = (1.0 + static_cast<double>(post.size())) * static_cast<double>(element_count(y()))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!is_binary(fn) || !detail::are_sizes(a) || !detail::are_sizes(b, a.size()) || (same && a != b)) return false;
    return detail::broadcasts(a, b) && detail::fits(post, y());
  }

 private:
  /// The maximum of each element and a scalar, then the minimum of that and another scalar.
  [[nodiscard]] static std::optional<Binary> clip(const Node& node, const AnyGraph auto& graph) {
    const Value& x_value = graph.input(node, 0);
    const Value *lower = detail::optional_input(node, graph, 1), *upper = detail::optional_input(node, graph, 2);
    for (const Value* given : {lower, upper})
      if (given != nullptr && given->elements() != 1) return std::nullopt;
    if (lower == nullptr && upper == nullptr) return std::nullopt;
    Binary binary{.type = x_value.type,
                  .fn = lower != nullptr ? ElementwiseFn::max : ElementwiseFn::min,
                  .a = {x_value.elements()},
                  .b = {1}};
    if (lower != nullptr && upper != nullptr) binary.post.push_back({ElementwiseFn::min, TensorShape{1}});
    return binary;
  }
  /// Before opset 7 the second operand was aligned at an axis, not at the last dimension. The slope of PRelu was
  /// aligned at the channels.
  [[nodiscard]] static detail::Dims aligned(const Node& node, const detail::Dims& a, detail::Dims b) {
    if (node.opset >= 7 || b.size() >= a.size() || !node.domain.empty()) return b;
    std::optional<std::size_t> axis;
    if (node.attributes.contains("axis")) axis = detail::to_axis(node.attribute<std::int64_t>("axis", 0), a.size());
    if (node.op_type == "PRelu" && b.size() == 1 && b[0] != 1) axis = 1;
    if (axis && *axis + b.size() < a.size()) b.resize(a.size() - *axis, 1);
    return b;
  }
  /// If the function commutes, the larger operand comes first.
  [[nodiscard]] static bool before(const TensorShape& left, const TensorShape& right) {
    const auto left_count = element_count(left), right_count = element_count(right);
    return left_count != right_count
               ? left_count > right_count
               : std::lexicographical_compare(right.begin(), right.end(), left.begin(), left.end());
  }
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

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Where, decltype(graph)> {
    const Value& x_value = graph.input(node, 1);
    const auto operands =
        detail::collapse(std::vector<detail::Dims>{graph.input(node, 0).dims, x_value.dims, graph.input(node, 2).dims});
    const auto c = detail::to_shape(operands[0]), x = detail::to_shape(operands[1]), y = detail::to_shape(operands[2]);
    if (!c || !x || !y) return std::nullopt;
    return Where{.type = x_value.type, .c = *c, .x = *x, .y = *y};
  }

  [[nodiscard]] constexpr TensorShape output() const { return broadcast(broadcast(c, x), y); }

  /// The condition may select the smaller of x and y everywhere: no element of the other is certain to be read.
  [[nodiscard]] Operands operands() const {
    Operands result{
        .inputs = {{.name = "condition", .type = DataType::boolean, .shape = c, .contents = Contents::boolean},
                   {.name = "x", .type = type, .shape = x},
                   {.name = "y", .type = type, .shape = y}},
        .outputs = {{.name = "output", .type = type, .shape = output()}}};
    result.inputs[element_count(x) > element_count(y) ? 1 : 2].touched = 0;
    return result;
  }

  /// ONNX Where: one choice per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = static_cast<double>(element_count(output()))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(c) || !detail::are_sizes(x, c.size()) || !detail::are_sizes(y, c.size())) return false;
    return detail::broadcasts(c, x) && detail::broadcasts(c, y) && detail::broadcasts(x, y);
  }
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

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Cast, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const DataType to = graph.output(node, 0).type;
    if (to == x_value.type) return std::nullopt;
    return Cast{.type = x_value.type, .to = to, .x = {x_value.elements()}};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "input",
                        .type = type,
                        .shape = x,
                        .contents = type == DataType::boolean ? Contents::boolean : Contents::uniform}},
            .outputs = {{.name = "output", .type = to, .shape = x}}};
  }
  /// One conversion per element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x); }
};

}  // namespace benanza::op
