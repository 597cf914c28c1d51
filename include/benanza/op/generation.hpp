// SPDX-License-Identifier: Apache-2.0
// What writes without reading.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

enum class GenerateFn : std::uint8_t { constant, range, eye, hann, hamming, blackman };
[[nodiscard]] constexpr auto enum_names(GenerateFn) {
  return std::array<std::string_view, 6>{"constant", "range", "eye", "hann", "hamming", "blackman"};
}

/// Operators that write without reading (or with hardly any): Range, EyeLike, ConstantOfShape and windows of signals.
struct Generate {
  static constexpr std::string_view kind = "Generate";
  static constexpr Family family = Family::other;
  /// In the order of GenerateFn.
  static constexpr std::array<std::string_view, 6> onnx_types{"ConstantOfShape", "Range",         "EyeLike",
                                                              "HannWindow",      "HammingWindow", "BlackmanWindow"};
  DataType type = DataType::f32;
  GenerateFn fn = GenerateFn::constant;
  TensorShape y{};  ///< rows and columns of eye, otherwise one dimension

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("y", self.y);
  }
  constexpr bool operator==(const Generate&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Generate, decltype(graph)> {
    const auto at = std::find(onnx_types.begin(), onnx_types.end(), detail::onnx_type(node));
    if (at == onnx_types.end()) return std::nullopt;
    const Value& y_value = graph.output(node, 0);
    Generate generate{
        .type = y_value.type, .fn = static_cast<GenerateFn>(at - onnx_types.begin()), .y = {y_value.elements()}};
    if (generate.fn != GenerateFn::eye) return generate;
    if (y_value.dims.size() != 2) return std::nullopt;
    generate.y = {y_value.dims[0], y_value.dims[1]};
    return generate;
  }

  /// Range reads its start and its step.
  [[nodiscard]] Operands operands() const {
    Operands result{.outputs = {{.name = "output", .type = type, .shape = y}}};
    if (fn == GenerateFn::range)
      for (const auto* name : {"start", "delta"}) result.inputs.push_back({.name = name, .type = type, .shape = {}});
    return result;
  }
  /// One operation for each element that differs from its neighbours.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    if (fn == GenerateFn::constant || fn == GenerateFn::eye) return {};
    return {.flops = static_cast<double>(element_count(y))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(y, fn == GenerateFn::eye ? 2 : 1); }
};

}  // namespace benanza::op
