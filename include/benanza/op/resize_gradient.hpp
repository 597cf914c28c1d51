// SPDX-License-Identifier: Apache-2.0
// Gradient of Resize: each element contributes to those from which it was computed, with the same weights.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/field_text.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/detail/resize_axis.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/resize_mode.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

/// The fields describe the Resize itself.
struct ResizeGradient {
  static constexpr std::string_view kind = "ResizeGradient";
  static constexpr Family family = Family::window;
  static constexpr std::array<std::string_view, 1> onnx_types{"benanza.ResizeGrad"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape y{};
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  bool antialias = false;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("y", self.y);
    visit("mode", self.mode);
    visit("coordinates", self.coordinates);
    visit("rounding", self.rounding);
    visit("antialias", self.antialias);
  }
  constexpr bool operator==(const ResizeGradient&) const = default;

  /// Reads dy, writes dx. `early`: the gradient is that of an Upsample, or of a Resize before opset 11.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<ResizeGradient, decltype(graph)> {
    const Value& x_value = graph.output(node, 0);
    const auto x = detail::to_shape(x_value.dims), y = detail::to_shape(graph.input(node, 0).dims);
    if (!x || !y || x->size() != y->size() || *x == *y) return std::nullopt;
    const bool early = node.attribute<std::int64_t>("early", 0) != 0;
    std::string mode = node.attribute<std::string>("mode", "nearest");
    if (mode == "bilinear") mode = "linear";
    const auto named_mode = detail::enum_from_name<ResizeMode>(mode);
    const auto coordinates = detail::enum_from_name<ResizeCoordinates>(
        early ? "asymmetric" : node.attribute<std::string>("coordinate_transformation_mode", "half_pixel"));
    const auto rounding = detail::enum_from_name<ResizeRounding>(
        early ? "floor" : node.attribute<std::string>("nearest_mode", "round_prefer_floor"));
    if (!named_mode || !coordinates || !rounding) return std::nullopt;
    ResizeGradient made{.type = x_value.type, .x = *x, .y = *y, .mode = *named_mode, .coordinates = *coordinates};
    if (made.mode == ResizeMode::nearest) made.rounding = *rounding;
    else made.antialias = node.attribute<std::int64_t>("antialias", 0) != 0;
    if (made.coordinates == ResizeCoordinates::tf_crop_and_resize) return std::nullopt;  // its region is data
    return made;
  }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "dy", .type = type, .shape = y}},
            .outputs = {{.name = "dx", .type = type, .shape = x}}};
  }

  /// As many operations as the Resize has. If it copies, one addition per element. The least is that of the Resize, and
  /// one addition for each element of dy more than dx has: a transposed linear map takes as many multiplications, and
  /// as many additions but for this difference (Tellegen's principle).
  [[nodiscard]] Arithmetic arithmetic() const {
    const auto results = static_cast<double>(element_count(y)), elements = static_cast<double>(element_count(x));
    const double direct = (mode == ResizeMode::nearest ? 1.0 : mode == ResizeMode::linear ? 4.0 : 8.0) * results;
    const double forward = least_resize_flops(x, y, mode, coordinates, antialias);
    return {.flops = direct, .least_flops = std::clamp(forward + results - elements, 0.0, direct)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x) && detail::are_sizes(y, x.size()) && !(antialias && mode == ResizeMode::nearest) &&
           coordinates != ResizeCoordinates::tf_crop_and_resize;
  }
};

}  // namespace benanza::op
