// SPDX-License-Identifier: Apache-2.0
// Reductions, ArgMax and ArgMin. Adjacent dimensions that are all reduced or all kept are folded. Dimensions of size 1
// are dropped.
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

}  // namespace benanza::op
