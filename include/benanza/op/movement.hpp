// SPDX-License-Identifier: Apache-2.0
// What moves whole tensors, or nothing at all.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace benanza::op {

/// Transpose, DepthToSpace and SpaceToDepth. Axes that stay adjacent are folded and dimensions of size 1 dropped, so
/// that equal movements have equal fields. A transpose that moves nothing is a View.
struct Transpose {
  static constexpr std::string_view kind = "Transpose";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 3> onnx_types{"Transpose", "DepthToSpace", "SpaceToDepth"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape perm{};  ///< output axis i is input axis perm[i]

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("perm", self.perm);
  }
  constexpr bool operator==(const Transpose&) const = default;

  [[nodiscard]] static std::optional<Transpose> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Expand: explicit broadcasting. Adjacent dimensions that broadcast in the same way are folded.
struct Expand {
  static constexpr std::string_view kind = "Expand";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Expand"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< has the same rank as y
  TensorShape y{};

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("y", self.y);
  }
  constexpr bool operator==(const Expand&) const = default;

  [[nodiscard]] static std::optional<Expand> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Tile: a tensor repeated along its axes.
struct Tile {
  static constexpr std::string_view kind = "Tile";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Tile"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape repeats{};  ///< for each axis of x

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("repeats", self.repeats);
  }
  constexpr bool operator==(const Tile&) const = default;

  /// A dimension that is not repeated is folded into the one before it.
  [[nodiscard]] static std::optional<Tile> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

enum class ViewRule : std::uint8_t { reshape, identity, dropout, no_op, bits };
[[nodiscard]] constexpr auto enum_names(ViewRule) {
  return std::array<std::string_view, 5>{"reshape", "identity", "dropout", "no_op", "bits"};
}

/// Operators that cost nothing by rule: the result is the operand's memory with another shape (Reshape, Flatten,
/// Squeeze, Identity, inference Dropout, a Transpose or Slice that moves nothing ...). They count among a model's
/// layers, but are never measured.
struct View {
  static constexpr std::string_view kind = "View";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 31> onnx_types{
      "BitCast",          "CenterCropPad", "Reshape",   "Flatten",   "Squeeze",
      "Unsqueeze",        "Identity",      "Dropout",   "Transpose", "DepthToSpace",
      "SpaceToDepth",     "Concat",        "Split",     "Slice",     "Pad",
      "Expand",           "Tile",          "Resize",    "Upsample",  "Cast",
      "CastLike",         "Sum",           "Mean",      "Max",       "Min",
      "ReduceMean",       "ReduceSum",     "ReduceMax", "ReduceMin", "ReduceProd",
      "ai.onnx.ml.ZipMap"};
  DataType type = DataType::f32;
  ViewRule rule = ViewRule::reshape;  ///< why it is free
  TensorShape x{};                    ///< one flat dimension

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("rule", self.rule);
    visit("x", self.x);
  }
  constexpr bool operator==(const View&) const = default;

  /// Reads reshapes, and all nodes that other operators leave because they change nothing.
  [[nodiscard]] static std::optional<View> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// Reads a Concat with only one operand that has elements.
  [[nodiscard]] static std::optional<View> copies_one(const Node& node, const Graph& graph, View view);
  [[nodiscard]] static bool changes_nothing(const Node& node, const Graph& graph);
};

/// Trilu: the upper or lower triangle of matrices, zero elsewhere.
struct Trilu {
  static constexpr std::string_view kind = "Trilu";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Trilu"};
  DataType type = DataType::f32;
  TensorShape x{};            ///< matrices rows columns
  bool upper = true;          ///< keeps column - row >= diagonal; otherwise column - row <= diagonal
  std::int64_t diagonal = 0;  ///< from -rows to columns

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("upper", self.upper);
    visit("diagonal", self.diagonal);
  }
  constexpr bool operator==(const Trilu&) const = default;

  /// If the diagonal is computed at run time, the one that keeps nothing is assumed: no other reads less.
  [[nodiscard]] static std::optional<Trilu> from(const Node& node, const Graph& graph);

  /// Columns of a row that are kept.
  struct Columns {
    std::int64_t begin = 0, end = 0;
  };
  [[nodiscard]] Columns kept_columns(std::int64_t row) const;
  /// Elements of all matrices that are kept.
  [[nodiscard]] std::int64_t kept() const;

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/movement_inl.hpp>
#endif
