// SPDX-License-Identifier: Apache-2.0
// What reads at positions that a tensor gives, and the gradient of that.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::op {

/// Gather of whole slices along one axis (an embedding look-up).
struct Gather {
  static constexpr std::string_view kind = "Gather";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Gather"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< outer axis inner
  std::int64_t indices = 1;  ///< how many are looked up; uniform over the axis when measured
  DataType index_type = DataType::i64;
  bool constant = false;  ///< x is constant (an embedding table)

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("index_type", self.index_type);
    visit("constant", self.constant);
  }
  constexpr bool operator==(const Gather&) const = default;

  [[nodiscard]] static std::optional<Gather> from(const Node& node, const Graph& graph);

  /// Only one row is certain to be read: all indices may be equal. The indices of a measurement are uniform.
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  /// Bytes of x that a call reads whatever its indices are: one row.
  [[nodiscard]] Bytes certain_bytes() const { return {static_cast<double>(operands().inputs[0].touched_bytes())}; }
  /// Bytes of x that a call is expected to read if its indices are independent and uniform over the axis: n of them hit
  /// V (1 - (1 - 1/V)^n) of V rows, since each row is missed with probability (1 - 1/V)^n (the classical
  /// occupancy problem: Feller, An Introduction to Probability Theory and Its Applications, volume 1).
  [[nodiscard]] Bytes expected_bytes() const;

  [[nodiscard]] bool consistent() const;
};

/// GatherElements: one index per output element.
struct GatherElements {
  static constexpr std::string_view kind = "GatherElements";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"GatherElements"};
  DataType type = DataType::f32;
  TensorShape x{};        ///< outer axis inner, or any rank if the indices cut other axes too
  TensorShape indices{};  ///< has the same rank as x
  std::int64_t axis = 0;
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("axis", self.axis);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherElements&) const = default;

  /// If the indices cover all other axes, the axes before and after the axis are folded.
  [[nodiscard]] static std::optional<GatherElements> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// GatherND: each index tuple picks a slice.
struct GatherNd {
  static constexpr std::string_view kind = "GatherNd";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"GatherND"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< ...tuple length, which is last
  std::int64_t batch_dims = 0;
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("batch_dims", self.batch_dims);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherNd&) const = default;

  /// Batch dimensions are folded into one, and so are the other dimensions of the indices and those of a slice.
  [[nodiscard]] static std::optional<GatherNd> from(const Node& node, const Graph& graph);

  /// Dimensions of one slice: those of x after the indexed axes.
  [[nodiscard]] constexpr TensorShape slice() const {
    return TensorShape(std::span(x.begin() + batch_dims + indices.back(), x.end()));
  }
  [[nodiscard]] TensorShape y() const;
  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// OneHot: one value at the position that an index gives, another one elsewhere.
struct OneHot {
  static constexpr std::string_view kind = "OneHot";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"OneHot"};
  DataType type = DataType::f32;
  TensorShape y{};  ///< outer depth inner
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("y", self.y);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const OneHot&) const = default;

  [[nodiscard]] static std::optional<OneHot> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// Gradient of Gather of whole slices, such as an embedding. Slices are added if indices repeat; the rest is 0.
struct GatherGradient {
  static constexpr std::string_view kind = "GatherGradient";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"benanza.GatherGrad"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< of the table: outer axis inner
  std::int64_t indices = 1;  ///< how many were looked up; uniform over the axis when measured
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherGradient&) const = default;

  /// Reads dy and the indices, writes dx.
  [[nodiscard]] static std::optional<GatherGradient> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;
  /// Each element of dy is added once.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/indexing_inl.hpp>
#endif
