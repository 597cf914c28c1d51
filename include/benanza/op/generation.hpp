// SPDX-License-Identifier: Apache-2.0
// What writes without reading.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
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

  [[nodiscard]] static std::optional<Generate> from(const Node& node, const Graph& graph);

  /// Range reads its start and its step.
  [[nodiscard]] Operands operands() const;
  /// One operation for each element that differs from its neighbours.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/generation_inl.hpp>
#endif
