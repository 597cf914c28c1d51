// SPDX-License-Identifier: Apache-2.0
// What cuts parts out of tensors, joins them or adds a border.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace benanza::op {

/// Concat of up to 32 tensors along one axis.
struct Concat {
  static constexpr std::string_view kind = "Concat";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Concat"};
  DataType type = DataType::f32;
  std::int64_t outer = 1;  ///< product of the dimensions before the axis
  IntList sizes{};         ///< each operand's size along the axis
  std::int64_t inner = 1;  ///< product of the dimensions after it
  bool in_place = false;   ///< a cache: the first operand is in the result's memory, which has free space after it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("outer", self.outer);
    visit("sizes", self.sizes);
    visit("inner", self.inner);
    visit("in_place", self.in_place);
  }
  constexpr bool operator==(const Concat&) const = default;

  /// Operands without elements are left out.
  [[nodiscard]] static std::optional<Concat> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t total() const { return std::accumulate(sizes.begin(), sizes.end(), 0LL); }

  /// In place, the first operand has the shape of the result, since it is the same memory. What follows the cache is
  /// not read.
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Split into up to 32 tensors along one axis.
struct Split {
  static constexpr std::string_view kind = "Split";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Split"};
  DataType type = DataType::f32;
  std::int64_t outer = 1;  ///< product of the dimensions before the axis
  IntList sizes{};         ///< each result's size along the axis
  std::int64_t inner = 1;  ///< product of the dimensions after it

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("outer", self.outer);
    visit("sizes", self.sizes);
    visit("inner", self.inner);
  }
  constexpr bool operator==(const Split&) const = default;

  /// Results without elements are left out.
  [[nodiscard]] static std::optional<Split> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Slice: a strided box of a tensor.
struct Slice {
  static constexpr std::string_view kind = "Slice";
  static constexpr Family family = Family::other;
  static constexpr bool transparent = true;
  static constexpr std::array<std::string_view, 1> onnx_types{"Slice"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape starts{};  ///< for each axis of x, in range; the last element if the step is negative
  TensorShape y{};       ///< the result's shape
  TensorShape steps{};   ///< empty: 1

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("starts", self.starts);
    visit("y", self.y);
    visit("steps", self.steps);
  }
  constexpr bool operator==(const Slice&) const = default;

  /// Dimensions of size 1 are dropped, and adjacent ones that are taken whole are folded. A slice that takes everything
  /// is left to View. If the start is computed at run time, the first elements are taken: no others are closer in
  /// memory.
  [[nodiscard]] static std::optional<Slice> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

  /// Where a slice begins on each axis, how many elements it takes, and its step.
  struct Box {
    detail::Dims first{}, taken{}, step{};
  };
  [[nodiscard]] static std::optional<Box> taken_box(const Node& node, const Graph& graph);

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 62;
};

enum class PadMode : std::uint8_t { constant, reflect, edge, wrap };
[[nodiscard]] constexpr auto enum_names(PadMode) {
  return std::array<std::string_view, 4>{"constant", "reflect", "edge", "wrap"};
}

/// Pad with a constant or by reflection, edge or wrap-around.
struct Pad {
  static constexpr std::string_view kind = "Pad";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 2> onnx_types{"Pad", "CenterCropPad"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape begins{};  ///< cells before each axis
  TensorShape ends{};    ///< cells after each axis
  PadMode mode = PadMode::constant;
  bool nonzero = false;  ///< the constant is not 0, or is not known

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("begins", self.begins);
    visit("ends", self.ends);
    visit("mode", self.mode);
    visit("nonzero", self.nonzero);
  }
  constexpr bool operator==(const Pad&) const = default;

  /// Adjacent dimensions without padding are folded. Padding by nothing is left to View. Pads that are computed at run
  /// time are assumed to be at the end: the work is the same.
  [[nodiscard]] static std::optional<Pad> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;
  /// A crop reads only the elements that it keeps.
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

  /// Cells before and after each axis. Negative numbers cut cells off.
  struct Cells {
    detail::Dims before{}, behind{};
  };
  [[nodiscard]] static std::optional<Cells> padding(const Node& node, const Graph& graph);
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/movement_parts_inl.hpp>
#endif
