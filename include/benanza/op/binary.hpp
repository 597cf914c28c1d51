// SPDX-License-Identifier: Apache-2.0
// Element-wise function of two tensors with broadcasting. Adjacent dimensions that broadcast in the same way are
// folded. If the function commutes, the larger operand comes first.
#pragma once

#include <benanza/detail/collapse.hpp>
#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/elementwise.hpp>
#include <benanza/model/epilogue.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    const bool quantised = type.starts_with("com.microsoft.QLinear");
    if (row == detail::binary_functions.end() || (!quantised && node.inputs.size() != 2)) return std::nullopt;
    const std::size_t second = quantised ? 3 : 1;
    const Value& a_value = graph.input(node, 0);
    Binary binary{
        .type = a_value.type, .fn = row->fn, .same = detail::is_same_input(node, 0, second), .scaled = quantised};
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

}  // namespace benanza::op
