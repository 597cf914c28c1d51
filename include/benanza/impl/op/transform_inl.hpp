// SPDX-License-Identifier: Apache-2.0
// Fourier transforms.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/transform.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace benanza::op {

BENANZA_INLINE std::optional<Fourier> Fourier::from(const Node& node, const Graph& graph) {
  return node.op_type == "STFT" ? of_frames(node, graph) : along_axis(node, graph);
}

BENANZA_INLINE Operands Fourier::operands() const {
  const std::int64_t first = std::min(needed(), x[1]);  // other frames add no more than their step
  const std::int64_t read = std::min(x[1], first + checked_product(frames - 1, std::min(step, first)));
  const TensorShape numbers{x[0], x[1], x[2], real ? 1 : 2};
  Operands result{.inputs = {{.name = "signal", .type = type, .shape = numbers}},
                  .outputs = {{.name = "output", .type = type, .shape = y()}}};
  if (read < x[1]) result.inputs[0].touched = element_count(numbers) / x[1] * read;
  if (window) result.inputs.push_back({.name = "window", .type = type, .shape = {length}, .constant = true});
  return result;
}

BENANZA_INLINE Arithmetic Fourier::arithmetic() const {
  const bool halved = real || is_real_result();
  const auto n = static_cast<double>(length);
  double operations = (halved ? 1.0 : 2.0) * static_cast<double>(std::min(needed(), x[1]) - 1);
  if (std::has_single_bit(static_cast<std::uint64_t>(length)) && length > 1 && x[1] >= needed()) {
    const double log = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(length))) - 1;
    const double sign = std::bit_width(static_cast<std::uint64_t>(length)) % 2 == 1 ? 1 : -1;
    const double complex = (34 * n * log - 2 * sign * log) / 9 - 124 * n / 27 - 2 * log + 16 * sign / 27 + 8;
    operations = halved ? complex / 2 - n + 2 : complex;
  }
  const double span = static_cast<double>(frames - 1) * static_cast<double>(step) / n;
  const double apart =
      step >= length ? static_cast<double>(frames) : 1 + static_cast<double>(static_cast<std::int64_t>(span));
  return {.flops = apart * operations * static_cast<double>(x[0]) * static_cast<double>(x[2])};
}

BENANZA_INLINE bool Fourier::consistent() const {
  if (!detail::are_sizes(x, 3) || !detail::is_size(length) || !detail::is_size(frames)) return false;
  if ((real && inverse) || (one_sided && !inverse && !real)) return false;
  if (frames == 1) return step == 0;
  return x[2] == 1 && detail::is_size(step) && length <= x[1] && frames - 1 <= (x[1] - length) / step;
}

BENANZA_INLINE std::optional<std::int64_t> Fourier::number(const Node& node, const Graph& graph, std::size_t i) {
  const Value* value = detail::optional_input(node, graph, i);
  const auto given = value == nullptr ? std::nullopt : detail::scalar(*value);
  return given ? std::optional(static_cast<std::int64_t>(*given)) : std::nullopt;
}

BENANZA_INLINE std::optional<Fourier> Fourier::along_axis(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const auto given = node.has_input(2) ? number(node, graph, 2)
                                       : std::optional(node.attribute<std::int64_t>("axis", node.opset < 20 ? 1 : -2));
  const auto length = number(node, graph, 1);
  if (dims.size() < 2 || (node.has_input(1) && !length)) return std::nullopt;
  const auto along = [&](std::size_t axis) {
    Fourier fourier{.type = x_value.type,
                    .x = detail::around(std::span<const std::int64_t>(dims).first(dims.size() - 1), axis),
                    .real = dims.back() == 1,
                    .inverse = node.attribute<std::int64_t>("inverse", 0) != 0,
                    .one_sided = node.attribute<std::int64_t>("onesided", 0) != 0};
    fourier.length = length.value_or(fourier.is_real_result() ? 2 * (dims[axis] - 1) : dims[axis]);
    return fourier;
  };
  if (given) {
    const auto axis = detail::to_axis(*given, dims.size());
    return axis && *axis + 1 < dims.size() ? std::optional(along(*axis)) : std::nullopt;
  }
  std::optional<Fourier> least;
  for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) {
    const Fourier fourier = along(axis);
    detail::Dims y = dims;
    y[axis] = fourier.bins();
    y.back() = fourier.is_real_result() ? 1 : 2;
    if (y != graph.output(node, 0).dims || !fourier.consistent()) continue;
    if (!least || fourier.arithmetic().flops < least->arithmetic().flops) least = fourier;
  }
  return least;
}

BENANZA_INLINE std::optional<Fourier> Fourier::of_frames(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto& dims = x_value.dims;
  const Value* window = detail::optional_input(node, graph, 2);
  const auto step = number(node, graph, 1);
  auto length = number(node, graph, 3);
  if (window != nullptr && !node.has_input(3)) length = window->elements();
  if (!step || *step < 1 || !length || *length < 1 || dims.size() < 2 || dims.size() > 3 || dims[1] < *length ||
      (window != nullptr && window->elements() != *length))
    return std::nullopt;
  Fourier fourier{.type = x_value.type,
                  .x = {dims[0], dims[1], 1},
                  .length = *length,
                  .real = dims.size() == 2 || dims[2] == 1,
                  .one_sided = node.attribute<std::int64_t>("onesided", 1) != 0,
                  .frames = (dims[1] - *length) / *step + 1,
                  .step = *step,
                  .window = window != nullptr};
  if (fourier.frames == 1) fourier.step = 0;
  return fourier;
}

}  // namespace benanza::op
