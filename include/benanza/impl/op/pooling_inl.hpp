// SPDX-License-Identifier: Apache-2.0
// Pooling over windows, and its gradient.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window.hpp>
#include <benanza/base/detail/window_axes.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/fused_node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/pooling.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::op {

/// Windows of a pool, and whether an average counts the cells of the padding.
struct PoolWindows {
  detail::WindowAxes axes{};
  bool include_pad = false;
};

/// The windows of a pool over x, N C spatial..., or of the gradient of a pool. Nothing if the lists do not match.
[[nodiscard]] inline std::optional<PoolWindows> read_pool_windows(const Node& node, std::span<const std::int64_t> x,
                                                                  PoolMode mode) {
  const bool global = node.op_type.find("Global") != std::string::npos;
  const auto kernel = global ? detail::Dims(x.begin() + 2, x.end()) : node.attribute<detail::Dims>("kernel_shape", {});
  auto axes = detail::WindowAxes::read(node, x.subspan(2), kernel);
  if (!axes) return std::nullopt;
  const std::string auto_pad = node.attribute<std::string>("auto_pad", "NOTSET");
  axes->resolve_same_padding(auto_pad);
  const bool padded = !axes->pads().empty();
  if (node.attribute<std::int64_t>("ceil_mode", 0) != 0 && !auto_pad.starts_with("SAME")) axes->resolve_ceil_mode();
  axes->canonicalize();
  const bool include_pad =
      mode == PoolMode::average && padded && node.attribute<std::int64_t>("count_include_pad", 0) != 0;
  return PoolWindows{std::move(*axes), include_pad};
}

BENANZA_INLINE std::optional<Pool> Pool::from(const Node& node, const Graph& graph) {
  const std::string_view name = node.op_type;
  const Value& x_value = graph.input(node, 0);
  const detail::Dims all_dims = detail::channels_first(node, x_value.dims);
  const std::span<const std::int64_t> x_dims = all_dims;
  if (x_dims.size() < 3 || x_dims.size() > TensorShape::capacity) return std::nullopt;
  Pool pool{.type = x_value.type,
            .mode = name.ends_with("MaxPool")       ? PoolMode::max
                    : name.ends_with("AveragePool") ? PoolMode::average
                                                    : PoolMode::lp};
  if (pool.mode == PoolMode::lp) {
    if (node.opset < 2) return std::nullopt;  // p was not an integer yet
    pool.p = node.attribute<std::int64_t>("p", 2);
  }
  const auto windows = read_pool_windows(node, x_dims, pool.mode);
  if (!windows) return std::nullopt;
  const detail::WindowAxes& axes = windows->axes;
  pool.x = axes.shape(x_dims[0], x_dims[1], &detail::Window::size);
  pool.kernel = axes.kernel();
  pool.pads = axes.pads();
  pool.strides = axes.strides();
  pool.dilations = axes.dilations();
  pool.include_pad = windows->include_pad;
  if (pool.include_pad) pool.ceil_pads = axes.ceil_pads();
  pool.indices = pool.mode == PoolMode::max && node.has_output(1);
  return pool;
}

BENANZA_INLINE TensorShape Pool::y() const {
  TensorShape shape{x[0], x[1]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(detail::window(x, i, kernel[i], pads, strides, dilations).outputs());
  return shape;
}

BENANZA_INLINE Operands Pool::operands() const {
  const auto touched = detail::touched_elements(x, std::span(kernel.begin(), kernel.end()), pads, strides, dilations);
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched}},
                  .outputs = {{.name = "y", .type = type, .shape = y()}}};
  if (indices) result.outputs.push_back({.name = "indices", .type = DataType::i64, .shape = y()});
  return result;
}

BENANZA_INLINE Arithmetic Pool::arithmetic() const {
  std::int64_t taps = checked_product(x[0], x[1]), least = taps;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const auto axis = detail::window(x, i, kernel[i], pads, strides, dilations);
    taps = checked_product(taps, axis.in_range_taps());
    least = checked_product(least, axis.least_products());
  }
  return {.flops = static_cast<double>(taps), .least_flops = static_cast<double>(least)};
}

BENANZA_INLINE bool Pool::consistent() const {
  const std::size_t rank = x.size();
  if (rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(kernel, rank - 2) || p < 1) return false;
  if (!detail::are_windows(rank - 2, pads, strides, dilations) ||
      (!ceil_pads.empty() && (ceil_pads.size() != rank - 2 || pads.empty())))
    return false;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (!detail::is_window(detail::window(x, i, kernel[i], pads, strides, dilations))) return false;
    if (!ceil_pads.empty() && (ceil_pads[i] < 0 || ceil_pads[i] > pads[i + rank - 2])) return false;
  }
  return true;
}

BENANZA_INLINE std::optional<PoolGradient> PoolGradient::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.output(node, 0);
  const PoolMode mode = node.op_type == "MaxPoolGrad" ? PoolMode::max : PoolMode::average;
  if (x_value.dims.size() < 3 || x_value.dims.size() > TensorShape::capacity) return std::nullopt;
  const auto windows = read_pool_windows(node, x_value.dims, mode);
  if (!windows) return std::nullopt;
  const detail::WindowAxes& axes = windows->axes;
  PoolGradient made{.type = x_value.type,
                    .mode = mode,
                    .x = axes.shape(x_value.dims[0], x_value.dims[1], &detail::Window::size),
                    .kernel = axes.kernel(),
                    .pads = axes.pads(),
                    .strides = axes.strides(),
                    .dilations = axes.dilations(),
                    .include_pad = windows->include_pad};
  if (made.include_pad) made.ceil_pads = axes.ceil_pads();
  if (!made.consistent() || graph.input(node, 0).elements() != element_count(made.y())) return std::nullopt;
  return made;
}

BENANZA_INLINE TensorShape PoolGradient::y() const {
  TensorShape shape{x[0], x[1]};
  for (std::size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(detail::window(x, i, kernel[i], pads, strides, dilations).outputs());
  return shape;
}

BENANZA_INLINE Operands PoolGradient::operands() const {
  Operands result{.inputs = {{.name = "dy", .type = type, .shape = y()}},
                  .outputs = {{.name = "dx", .type = type, .shape = x}}};
  if (mode == PoolMode::max)
    result.inputs.push_back(
        {.name = "indices", .type = DataType::i64, .shape = y(), .contents = Contents::indices, .limit = plane()});
  return result;
}

BENANZA_INLINE Arithmetic PoolGradient::arithmetic() const {
  const auto results = static_cast<double>(element_count(y()));
  if (mode == PoolMode::max) return {.flops = results};
  std::int64_t taps = checked_product(x[0], x[1]), least = taps;
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    const auto axis = detail::window(x, i, kernel[i], pads, strides, dilations);
    taps = checked_product(taps, axis.in_range_taps());
    least = checked_product(least, axis.least_products());
  }
  return {.flops = static_cast<double>(taps) + results, .least_flops = static_cast<double>(least) + results};
}

BENANZA_INLINE bool PoolGradient::consistent() const {
  const std::size_t rank = x.size();
  if (mode == PoolMode::lp || rank < 3 || rank > 6 || !detail::are_sizes(x) || !detail::are_sizes(kernel, rank - 2))
    return false;
  if (!detail::are_windows(rank - 2, pads, strides, dilations) ||
      (!ceil_pads.empty() && (ceil_pads.size() != rank - 2 || pads.empty())))
    return false;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (!detail::is_window(detail::window(x, i, kernel[i], pads, strides, dilations))) return false;
    if (!ceil_pads.empty() && (ceil_pads[i] < 0 || ceil_pads[i] > pads[i + rank - 2])) return false;
  }
  return true;
}

}  // namespace benanza::op
