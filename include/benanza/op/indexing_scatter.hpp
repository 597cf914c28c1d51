// SPDX-License-Identifier: Apache-2.0
// What writes at positions that a tensor gives.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// How a scatter combines updates with its data.
enum class ScatterReduction : std::uint8_t { none, add, mul, max, min };
[[nodiscard]] constexpr auto enum_names(ScatterReduction) {
  return std::array<std::string_view, 5>{"none", "add", "mul", "max", "min"};
}

/// The data. A reduction reads the elements that it writes.
[[nodiscard]] inline Operand data_operand(DataType type, const TensorShape& x, ScatterReduction reduction,
                                          std::int64_t written) {
  return {.name = "data", .type = type, .shape = x, .touched = reduction == ScatterReduction::none ? 0 : written};
}
/// The output, of which `written` elements change. In place it starts as the data, the first input.
[[nodiscard]] inline Operand updated_operand(DataType type, const TensorShape& x, std::int64_t written, bool in_place) {
  Operand output{.name = "output", .type = type, .shape = x, .touched = written};
  if (in_place) output.starts_as = 0;
  return output;
}

/// ScatterElements: one index per update. Only what is written counts, since an engine may update in place.
struct ScatterElements {
  static constexpr std::string_view kind = "ScatterElements";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 2> onnx_types{"ScatterElements", "Scatter"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< has the same rank as x; also the shape of the updates
  std::int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::none;
  DataType index_type = DataType::i64;
  bool in_place = false;  ///< the data is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("axis", self.axis);
    visit("reduction", self.reduction);
    visit("index_type", self.index_type);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const ScatterElements&) const = default;

  /// If the indices cover all other axes, the axes before and after the axis are folded.
  [[nodiscard]] static std::optional<ScatterElements> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// One operation per update if there is a reduction.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// ScatterND: each index tuple overwrites a slice. Only what is written counts, since an engine may update in place.
struct ScatterNd {
  static constexpr std::string_view kind = "ScatterNd";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"ScatterND"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< ...tuple length, which is last
  ScatterReduction reduction = ScatterReduction::none;
  DataType index_type = DataType::i64;
  bool in_place = false;  ///< the data is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("reduction", self.reduction);
    visit("index_type", self.index_type);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const ScatterNd&) const = default;

  /// The dimensions of the indices before the last are folded into one, and so are those of a slice.
  [[nodiscard]] static std::optional<ScatterNd> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape updates() const;
  [[nodiscard]] Operands operands() const;
  /// One operation per updated element if there is a reduction.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// TensorScatter: writes a run of rows into a cache. Only what is written counts, since an engine may update in place.
struct TensorScatter {
  static constexpr std::string_view kind = "TensorScatter";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"TensorScatter"};
  DataType type = DataType::f32;
  TensorShape x{};          ///< batch outer axis inner
  std::int64_t length = 1;  ///< rows along the axis that are written
  bool indices = true;      ///< each batch entry has its own first row; otherwise it is row 0 for all
  bool circular = false;    ///< rows beyond the last wrap around to the first ones
  bool in_place = false;    ///< the cache is in the output's memory, and nothing else reads it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("length", self.length);
    visit("indices", self.indices);
    visit("circular", self.circular);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const TensorScatter&) const = default;

  [[nodiscard]] static std::optional<TensorScatter> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr TensorShape update() const { return {x[0], x[1], length, x[3]}; }

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/indexing_scatter_inl.hpp>
#endif
