// SPDX-License-Identifier: Apache-2.0
// Interpolation between elements.
#pragma once

#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/resize_axis.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/sampling.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace benanza::op {

BENANZA_INLINE std::optional<Resize> Resize::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto x = detail::to_shape(x_value.dims), y = detail::to_shape(graph.output(node, 0).dims);
  if (!x || !y || x->size() != y->size() || *x == *y) return std::nullopt;
  const bool early = node.op_type == "Upsample" || node.opset < 11;
  std::string mode = node.attribute<std::string>("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
  const auto coordinates = detail::enum_from_name<ResizeCoordinates>(
      early ? "asymmetric" : node.attribute<std::string>("coordinate_transformation_mode", "half_pixel"));
  const auto rounding = early && mode == "nearest"
                            ? early_rounding(*x, *y)
                            : detail::enum_from_name<ResizeRounding>(
                                  early ? "floor" : node.attribute<std::string>("nearest_mode", "round_prefer_floor"));
  if (!named_mode || !coordinates || !rounding) return std::nullopt;
  Resize resize{.type = x_value.type, .x = *x, .y = *y, .mode = *named_mode, .coordinates = *coordinates};
  if (resize.mode == ResizeMode::nearest) resize.rounding = *rounding;
  else resize.antialias = node.attribute<std::int64_t>("antialias", 0) != 0;
  return resize;
}

BENANZA_INLINE Operands Resize::operands() const {
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x, .touched = touched()}},
                  .outputs = {{.name = "y", .type = type, .shape = y}}};
  detail::append_epilogue_operands(result, post, type, y, 1);
  return result;
}

BENANZA_INLINE ResizeAxis Resize::axis(std::size_t i) const {
  ResizeAxis axis = ResizeAxis::of_sizes(x[i], y[i], mode, coordinates, antialias);
  axis.rounding = rounding;
  return axis;
}

BENANZA_INLINE Arithmetic Resize::arithmetic() const {
  const auto results = static_cast<double>(element_count(y));
  const double steps = static_cast<double>(post.size()) * results;
  const double direct = (mode == ResizeMode::nearest ? 0.0 : mode == ResizeMode::linear ? 4.0 : 8.0) * results;
  return {.flops = direct + steps, .least_flops = std::min(direct, least_interpolation()) + steps};
}

BENANZA_INLINE bool Resize::consistent() const {
  return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && !(antialias && mode == ResizeMode::nearest) &&
         (post.empty() || (is_float(type) && y.size() > 1 && detail::fits(post, y)));
}

BENANZA_INLINE std::int64_t Resize::least_taps(std::size_t axis) const {
  const bool half = coordinates == ResizeCoordinates::half_pixel ||
                    (coordinates == ResizeCoordinates::pytorch_half_pixel && y[axis] > 1);
  if (mode == ResizeMode::nearest || !half || x[axis] % (2 * y[axis]) != 0) return 1;
  return mode == ResizeMode::linear ? 2 : 4;
}

BENANZA_INLINE std::int64_t Resize::touched() const {
  if (coordinates == ResizeCoordinates::tf_crop_and_resize) return 0;
  if (antialias) return element_count(x);
  std::int64_t cells = 1;
  for (std::size_t i = 0; i < x.size(); ++i)
    cells = checked_product(cells, x[i] == y[i] ? x[i] : std::min(x[i], checked_product(least_taps(i), y[i])));
  return cells;
}

BENANZA_INLINE std::optional<ResizeGradient> ResizeGradient::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.output(node, 0);
  const auto x = detail::to_shape(x_value.dims), y = detail::to_shape(graph.input(node, 0).dims);
  if (!x || !y || x->size() != y->size() || *x == *y) return std::nullopt;
  const bool early = node.attribute<std::int64_t>("early", 0) != 0;
  std::string mode = node.attribute<std::string>("mode", "nearest");
  if (mode == "bilinear") mode = "linear";
  const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
  const auto coordinates = detail::enum_from_name<ResizeCoordinates>(
      early ? "asymmetric" : node.attribute<std::string>("coordinate_transformation_mode", "half_pixel"));
  const auto rounding = early && mode == "nearest"
                            ? early_rounding(*x, *y)
                            : detail::enum_from_name<ResizeRounding>(
                                  early ? "floor" : node.attribute<std::string>("nearest_mode", "round_prefer_floor"));
  if (!named_mode || !coordinates || !rounding) return std::nullopt;
  ResizeGradient made{.type = x_value.type, .x = *x, .y = *y, .mode = *named_mode, .coordinates = *coordinates};
  if (made.mode == ResizeMode::nearest) made.rounding = *rounding;
  else made.antialias = node.attribute<std::int64_t>("antialias", 0) != 0;
  if (made.coordinates == ResizeCoordinates::tf_crop_and_resize) return std::nullopt;  // its region is data
  return made;
}

BENANZA_INLINE Operands ResizeGradient::operands() const {
  return {.inputs = {{.name = "dy", .type = type, .shape = y}}, .outputs = {{.name = "dx", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic ResizeGradient::arithmetic() const {
  const auto results = static_cast<double>(element_count(y)), elements = static_cast<double>(element_count(x));
  const double direct = (mode == ResizeMode::nearest ? 1.0 : mode == ResizeMode::linear ? 4.0 : 8.0) * results;
  const double forward = least_resize_flops(x, y, mode, coordinates, antialias);
  return {.flops = direct, .least_flops = std::clamp(forward + results - elements, 0.0, direct)};
}

BENANZA_INLINE bool ResizeGradient::consistent() const {
  return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && !(antialias && mode == ResizeMode::nearest) &&
         coordinates != ResizeCoordinates::tf_crop_and_resize;
}

BENANZA_INLINE std::optional<GridSample> GridSample::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const Value& grid = graph.input(node, 1);
  const auto x = detail::to_shape(x_value.dims);
  std::string mode = node.attribute<std::string>("mode", "linear");
  if (mode == "bilinear" || mode == "bicubic") mode.erase(0, 2);
  const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
  const auto padding = detail::enum_from_name<GridPadding>(node.attribute<std::string>("padding_mode", "zeros"));
  if (!x || !named_mode || !padding || grid.type != x_value.type || x->size() < 3 ||
      grid.dims.size() != x_value.dims.size() || grid.dims[0] != x_value.dims[0] ||
      grid.dims.back() != static_cast<std::int64_t>(x->size()) - 2)
    return std::nullopt;
  return GridSample{.type = x_value.type,
                    .x = *x,
                    .out = TensorShape(std::span<const std::int64_t>(grid.dims).subspan(1, x->size() - 2)),
                    .mode = *named_mode,
                    .padding = *padding,
                    .align_corners = node.attribute<std::int64_t>("align_corners", 0) != 0};
}

BENANZA_INLINE std::int64_t GridSample::taps() const {
  const std::int64_t along = mode == ResizeMode::nearest ? 1 : mode == ResizeMode::linear ? 2 : 4;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < spatial(); ++i) count *= along;
  return count;
}

BENANZA_INLINE Operands GridSample::operands() const {
  TensorShape grid{x[0]}, y{x[0], x[1]};
  for (auto size : out) {
    grid.push_back(size);
    y.push_back(size);
  }
  grid.push_back(static_cast<std::int64_t>(spatial()));
  return {
      .inputs = {{.name = "X", .type = type, .shape = x, .touched = 0}, {.name = "grid", .type = type, .shape = grid}},
      .outputs = {{.name = "Y", .type = type, .shape = y}}};
}

BENANZA_INLINE Arithmetic GridSample::arithmetic() const {
  if (mode == ResizeMode::nearest) return {};
  return {.flops = 2.0 * static_cast<double>(taps()) * static_cast<double>(x[0]) * static_cast<double>(x[1]) *
                   static_cast<double>(points())};
}

BENANZA_INLINE bool GridSample::consistent() const {
  return x.size() >= 3 && x.size() <= 6 && detail::are_sizes(x) && detail::are_sizes(out, x.size() - 2);
}

BENANZA_INLINE std::optional<RoiAlign> RoiAlign::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto x = detail::to_shape(x_value.dims);
  const auto& boxes = graph.input(node, 1);
  const std::string mode = node.attribute<std::string>("mode", "avg");
  if (!x || boxes.dims.size() != 2 || boxes.dims[1] != 4 || (mode != "avg" && mode != "max")) return std::nullopt;
  const char* shifted = node.opset < 16 ? "output_half_pixel" : "half_pixel";
  return RoiAlign{
      .type = x_value.type,
      .x = *x,
      .boxes = boxes.dims[0],
      .out = {node.attribute<std::int64_t>("output_height", 1), node.attribute<std::int64_t>("output_width", 1)},
      .samples = node.attribute<std::int64_t>("sampling_ratio", 0),
      .max = mode == "max",
      .half_pixel = node.attribute<std::string>("coordinate_transformation_mode", shifted) == "half_pixel",
      .index_type = graph.input(node, 2).type};
}

BENANZA_INLINE Operands RoiAlign::operands() const {
  // Corners are between a quarter and three quarters of the smaller side's power of two.
  const int exponent = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::min(x[2], x[3])))) - 2;
  return {
      .inputs =
          {{.name = "X", .type = type, .shape = x, .touched = 0},
           {.name = "rois", .type = type, .shape = {boxes, 4}, .contents = Contents::positive, .exponent = exponent},
           {.name = "batch_indices",
            .type = index_type,
            .shape = {boxes},
            .contents = Contents::indices,
            .limit = x[0]}},
      .outputs = {{.name = "Y", .type = type, .shape = y()}}};
}

BENANZA_INLINE Arithmetic RoiAlign::arithmetic() const { return {.flops = static_cast<double>(element_count(y()))}; }

BENANZA_INLINE bool RoiAlign::consistent() const {
  constexpr std::int64_t most = 1 << 12;
  return detail::are_sizes(x, 4) && detail::is_size(boxes) && detail::are_sizes(out, 2) && samples >= 0 &&
         samples <= most;
}

}  // namespace benanza::op
