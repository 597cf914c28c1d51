// SPDX-License-Identifier: Apache-2.0
// Reductions, sums along an axis, and the largest elements.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

enum class ReduceFn : std::uint8_t {
  mean,
  sum,
  max,
  min,
  prod,
  l1,
  l2,
  log_sum,
  log_sum_exp,
  sum_square,
  arg_max,
  arg_min
};
[[nodiscard]] constexpr auto enum_names(ReduceFn) {
  return std::array<std::string_view, 12>{"mean", "sum",     "max",         "min",        "prod",    "l1",
                                          "l2",   "log_sum", "log_sum_exp", "sum_square", "arg_max", "arg_min"};
}

/// Reductions, ArgMax and ArgMin. Adjacent dimensions that are all reduced or all kept are folded. Dimensions of size 1
/// are dropped.
struct Reduce {
  static constexpr std::string_view kind = "Reduce";
  static constexpr Family family = Family::window;
  /// In the order of ReduceFn, followed by the quantised mean.
  static constexpr std::array<std::string_view, 13> onnx_types{"ReduceMean",
                                                               "ReduceSum",
                                                               "ReduceMax",
                                                               "ReduceMin",
                                                               "ReduceProd",
                                                               "ReduceL1",
                                                               "ReduceL2",
                                                               "ReduceLogSum",
                                                               "ReduceLogSumExp",
                                                               "ReduceSumSquare",
                                                               "ArgMax",
                                                               "ArgMin",
                                                               "com.microsoft.QLinearReduceMean"};
  DataType type = DataType::f32;
  ReduceFn fn = ReduceFn::mean;
  TensorShape x{};
  TensorShape axes{};  ///< axes of x, ascending

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("fn", self.fn);
    visit("x", self.x);
    visit("axes", self.axes);
  }
  constexpr bool operator==(const Reduce&) const = default;

  /// A reduction over dimensions of size 1 only is left to View if the function changes nothing. Axes that are computed
  /// at run time are derived from the shape of the result.
  [[nodiscard]] static std::optional<Reduce> from(const Node& node, const Graph& graph);

  [[nodiscard]] TensorShape y() const;

  [[nodiscard]] Operands operands() const;

  /// ONNX ReduceX, ArgMax, ArgMin: one operation per input element, and two for those that first take a
  /// magnitude, a square or an exponential.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;

 private:
  /// Marks the axes of x that y lacks, or has with size 1. False if y cannot be the result. If several readings are
  /// possible, the last axes are assumed: the work is the same, and no others are closer in memory.
  [[nodiscard]] static bool follow(const detail::Dims& x, const detail::Dims& y, std::vector<bool>& reduced);
};

/// CumSum and CumProd: sums and products of each element and all elements before it, along one axis.
struct Cumulative {
  static constexpr std::string_view kind = "Cumulative";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 2> onnx_types{"CumSum", "CumProd"};
  DataType type = DataType::f32;
  TensorShape x{};         ///< outer axis inner
  bool product = false;    ///< CumProd
  bool exclusive = false;  ///< without the element itself
  bool reverse = false;    ///< from the last element

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("product", self.product);
    visit("exclusive", self.exclusive);
    visit("reverse", self.reverse);
  }
  constexpr bool operator==(const Cumulative&) const = default;

  /// If the axis is computed at run time, the shortest one is assumed: no other has fewer operations.
  [[nodiscard]] static std::optional<Cumulative> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX CumSum and CumProd: the n different results of a row of n elements take n - 1 operations, or n - 2 without
  /// the element itself.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

/// TopK along one axis.
struct TopK {
  static constexpr std::string_view kind = "TopK";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"TopK"};
  DataType type = DataType::f32;
  TensorShape x{};  ///< outer axis inner
  std::int64_t k = 1;
  bool largest = true;
  bool sorted = true;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("k", self.k);
    visit("largest", self.largest);
    visit("sorted", self.sorted);
  }
  constexpr bool operator==(const TopK&) const = default;

  [[nodiscard]] static std::optional<TopK> from(const Node& node, const Graph& graph);

  [[nodiscard]] Operands operands() const;

  /// ONNX TopK: at least one comparison per input element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/reduction_inl.hpp>
#endif
