// SPDX-License-Identifier: Apache-2.0
// Slice: a strided box of a tensor.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

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
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Slice, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const auto box = taken_box(node, graph);
    if (!box) return std::nullopt;
    const auto& [first, taken, step] = *box;
    Slice slice{.type = x_value.type};
    detail::Dims x, y;
    bool whole = false, strided = false, all = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const bool takes_all = first[i] == 0 && taken[i] == dims[i] && step[i] == 1;
      all = all && takes_all;
      if (dims[i] == 1 && takes_all) continue;
      if (takes_all && whole) {
        x.back() = y.back() = checked_product(x.back(), dims[i]);
        continue;
      }
      if (x.size() == TensorShape::capacity) return std::nullopt;
      x.push_back(dims[i]);
      y.push_back(taken[i]);
      slice.starts.push_back(first[i]);
      slice.steps.push_back(step[i]);
      whole = takes_all;
      strided = strided || step[i] != 1;
    }
    if (all) return std::nullopt;
    slice.x = TensorShape(x);
    slice.y = TensorShape(y);
    if (!strided) slice.steps = {};
    return slice;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = element_count(y)}},
            .outputs = {{.name = "output", .type = type, .shape = y}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || !detail::are_sizes(y, x.size()) || !detail::are_within(starts, x) ||
        (!steps.empty() && steps.size() != x.size()))
      return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t step = detail::at_or(steps, i, 1);
      if (y[i] > x[i] || step == 0 || step < -most || step > most) return false;
      const std::int64_t room = step > 0 ? x[i] - 1 - starts[i] : starts[i];
      if (y[i] - 1 > room / (step > 0 ? step : -step)) return false;
    }
    return true;
  }

  /// Where a slice begins on each axis, how many elements it takes, and its step.
  struct Box {
    detail::Dims first{}, taken{}, step{};
  };
  [[nodiscard]] static std::optional<Box> taken_box(const Node& node, const AnyGraph auto& graph) {
    const auto& dims = graph.input(node, 0).dims;
    const auto starts = detail::given_ints(node, graph, "starts", 1), ends = detail::given_ints(node, graph, "ends", 2);
    const auto axes = detail::given_ints(node, graph, "axes", 3), steps = detail::given_ints(node, graph, "steps", 4);
    if (!starts.given || !ends.given) return std::nullopt;
    if (!starts.known || !ends.known || !axes.known || !steps.known) {
      const auto& y = graph.output(node, 0).dims;
      if (y.size() != dims.size()) return std::nullopt;
      return Box{detail::Dims(dims.size(), 0), y, detail::Dims(dims.size(), 1)};
    }
    const std::size_t count = starts.values.size();
    if (ends.values.size() != count || (axes.given && axes.values.size() != count) ||
        (steps.given && steps.values.size() != count))
      return std::nullopt;
    detail::Dims first(dims.size(), 0), taken = dims, step(dims.size(), 1);
    for (std::size_t i = 0; i < count; ++i) {
      const auto axis = detail::to_axis(axes.given ? axes.values[i] : static_cast<std::int64_t>(i), dims.size());
      const std::int64_t stride = steps.given ? steps.values[i] : 1;
      if (!axis || stride == 0 || stride < -most || stride > most) return std::nullopt;
      // ONNX Slice: negative positions count from the end. Then both are clamped to the positions that a traversal in
      // this direction can reach.
      const std::int64_t size = dims[*axis];
      const auto from_end = [size](std::int64_t at) { return at < 0 ? std::max(at, -size - 1) + size : at; };
      const bool up = stride > 0;
      const std::int64_t begin =
          std::clamp<std::int64_t>(from_end(starts.values[i]), 0, std::max<std::int64_t>(up ? size : size - 1, 0));
      const std::int64_t end = std::clamp<std::int64_t>(from_end(ends.values[i]), up ? 0 : -1,
                                                        std::max<std::int64_t>(up ? size : size - 1, -1));
      const std::int64_t span = up ? end - begin : begin - end, stride_size = up ? stride : -stride;
      first[*axis] = begin;
      taken[*axis] = span <= 0 ? 0 : (span + stride_size - 1) / stride_size;
      step[*axis] = taken[*axis] == 1 ? 1 : stride;
    }
    return Box{first, taken, step};
  }

 private:
  static constexpr std::int64_t most = std::int64_t{1} << 62;
};

}  // namespace benanza::op
