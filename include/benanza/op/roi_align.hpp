// SPDX-License-Identifier: Apache-2.0
// RoiAlign: boxes of a feature map, each resampled to one size.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

struct RoiAlign {
  static constexpr std::string_view kind = "RoiAlign";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"RoiAlign"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< N C height width
  std::int64_t boxes = 1;    ///< x1 y1 x2 y2 each; their scale does not decide the speed
  TensorShape out{};         ///< height and width of the result
  std::int64_t samples = 0;  ///< along each axis of a cell; 0: one for each cell of x that it covers
  bool max = false;          ///< takes the largest of the weighted neighbours of all samples, not their average
  bool half_pixel = true;    ///< coordinates are shifted by half a cell of x
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("boxes", self.boxes);
    visit("out", self.out);
    visit("samples", self.samples);
    visit("max", self.max);
    visit("half_pixel", self.half_pixel);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const RoiAlign&) const = default;

  /// Before opset 16 coordinates were not shifted.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<RoiAlign, decltype(graph)> {
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

  [[nodiscard]] constexpr TensorShape y() const { return {boxes, x[1], out[0], out[1]}; }

  /// No element of X is certain to be read: boxes may lie outside.
  [[nodiscard]] Operands operands() const {
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

  /// ONNX RoiAlign: four neighbours per sample, each weighted and added or compared. There is at least one sample.
  /// Weights serve all channels and are not counted.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 8.0 * static_cast<double>(points()) * static_cast<double>(boxes) * static_cast<double>(x[1]) *
                     static_cast<double>(out[0]) * static_cast<double>(out[1])};
  }

  [[nodiscard]] constexpr bool consistent() const {
    constexpr std::int64_t most = 1 << 12;
    return detail::are_sizes(x, 4) && detail::is_size(boxes) && detail::are_sizes(out, 2) && samples >= 0 &&
           samples <= most;
  }

 private:
  /// Samples of a cell that are known to exist.
  [[nodiscard]] constexpr std::int64_t points() const { return samples == 0 ? 1 : samples * samples; }
};

}  // namespace benanza::op
