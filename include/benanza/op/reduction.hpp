// SPDX-License-Identifier: Apache-2.0
// Reductions, sums along an axis, and the largest elements.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Reduce, decltype(graph)> {
    const auto at = std::find(onnx_types.begin(), onnx_types.end(), detail::onnx_type(node));
    if (at == onnx_types.end()) return std::nullopt;
    const bool quantized = *at == onnx_types.back();
    const Value& x_value = graph.input(node, 0);
    Reduce reduce{.type = x_value.type,
                  .fn = quantized ? ReduceFn::mean : static_cast<ReduceFn>(at - onnx_types.begin())};
    const bool index = reduce.fn == ReduceFn::arg_max || reduce.fn == ReduceFn::arg_min;
    std::vector<bool> reduced(x_value.dims.size());
    const auto axes = index ? detail::GivenInts{.given = true, .values = {node.attribute<std::int64_t>("axis", 0)}}
                            : detail::given_ints(node, graph, "axes", quantized ? node.inputs.size() : 1);
    for (auto given : axes.values) {
      const auto axis = detail::to_axis(given, reduced.size());
      if (!axis) return std::nullopt;
      reduced[*axis] = true;
    }
    if (!axes.known) {
      if (!follow(x_value.dims, graph.output(node, 0).dims, reduced)) return std::nullopt;
    } else if (axes.values.empty()) {
      reduced.assign(reduced.size(), node.attribute<std::int64_t>("noop_with_empty_axes", 0) == 0);
    }

    detail::Dims dims;
    bool last = false;
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      if (x_value.dims[i] == 1) continue;
      if (!dims.empty() && reduced[i] == last) {
        dims.back() = checked_product(dims.back(), x_value.dims[i]);
        continue;
      }
      last = reduced[i];
      if (last) reduce.axes.push_back(static_cast<std::int64_t>(dims.size()));
      dims.push_back(x_value.dims[i]);
      if (dims.size() == TensorShape::capacity) return std::nullopt;
    }
    if (reduce.axes.empty()) {
      if (reduce.fn <= ReduceFn::prod) return std::nullopt;
      reduce.axes.push_back(static_cast<std::int64_t>(dims.size()));  // still a function of each element
      dims.push_back(1);
    }
    reduce.x = TensorShape(dims);
    return reduce;
  }

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end()) shape.push_back(x[i]);
    return shape;
  }

  [[nodiscard]] Operands operands() const {
    const bool positive = fn == ReduceFn::log_sum || fn == ReduceFn::prod;
    const bool index = fn == ReduceFn::arg_max || fn == ReduceFn::arg_min;
    return {.inputs = {{.name = "data",
                        .type = type,
                        .shape = x,
                        .contents = positive ? Contents::positive : Contents::uniform}},
            .outputs = {{.name = "reduced", .type = index ? DataType::i64 : type, .shape = y()}}};
  }

  /// ONNX ReduceX, ArgMax, ArgMin: one operation per input element, and two for those that first take a
  /// magnitude, a square or an exponential.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    using enum ReduceFn;
    const bool two = fn == l1 || fn == l2 || fn == sum_square || fn == log_sum_exp;
    return {.flops = (two ? 2.0 : 1.0) * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || axes.empty()) return false;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(x.size()) || (i > 0 && axes[i] <= axes[i - 1]))
        return false;
    return true;
  }

 private:
  /// Marks the axes of x that y lacks, or has with size 1. False if y cannot be the result. If several readings are
  /// possible, the last axes are assumed: the work is the same, and no others are closer in memory.
  [[nodiscard]] static bool follow(const detail::Dims& x, const detail::Dims& y, std::vector<bool>& reduced) {
    const bool keeps = x.size() == y.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool stays = next < y.size() && y[next] == x[i];
      if (!stays && keeps && y[next] != 1) return false;
      reduced[i] = !stays;
      next += stays || keeps ? 1 : 0;
    }
    return next == y.size();
  }
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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Cumulative, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto given = detail::scalar(graph.input(node, 1));
    const auto shortest = std::min_element(x_value.dims.begin(), x_value.dims.end()) - x_value.dims.begin();
    const auto axis = detail::to_axis(given ? static_cast<std::int64_t>(*given) : shortest, x_value.dims.size());
    if (!axis) return std::nullopt;
    return Cumulative{.type = x_value.type,
                      .x = detail::around(x_value.dims, *axis),
                      .product = node.op_type == "CumProd",
                      .exclusive = node.attribute<std::int64_t>("exclusive", 0) != 0,
                      .reverse = node.attribute<std::int64_t>("reverse", 0) != 0};
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs =
                {{.name = "x", .type = type, .shape = x, .contents = product ? Contents::positive : Contents::uniform}},
            .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// ONNX CumSum and CumProd: the n different results of a row of n elements take n - 1 operations, or n - 2 without
  /// the element itself.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t steps = x[1] - (exclusive ? 2 : 1);
    return {.flops = static_cast<double>(x[0]) * static_cast<double>(x[2]) *
                     static_cast<double>(std::max<std::int64_t>(steps, 0))};
  }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3); }
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

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<TopK, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto axis = detail::to_axis(node.attribute<std::int64_t>("axis", -1), x_value.dims.size());
    const auto& y = graph.output(node, node.has_output(0) ? 0 : 1).dims;
    if (!axis || y.size() != x_value.dims.size()) return std::nullopt;
    return TopK{.type = x_value.type,
                .x = detail::around(x_value.dims, *axis),
                .k = y[*axis],
                .largest = node.attribute<std::int64_t>("largest", 1) != 0,
                .sorted = node.attribute<std::int64_t>("sorted", 1) != 0};
  }

  [[nodiscard]] Operands operands() const {
    const TensorShape y{x[0], k, x[2]};
    return {.inputs = {{.name = "x", .type = type, .shape = x}},
            .outputs = {{.name = "values", .type = type, .shape = y},
                        {.name = "indices", .type = DataType::i64, .shape = y}}};
  }

  /// ONNX TopK: at least one comparison per input element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {.flops = static_cast<double>(element_count(x))}; }

  [[nodiscard]] constexpr bool consistent() const { return detail::are_sizes(x, 3) && k >= 1 && k <= x[1]; }
};

}  // namespace benanza::op
