// SPDX-License-Identifier: Apache-2.0
// Tile: a tensor repeated along its axes.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Tile {
  static constexpr std::string_view kind = "Tile";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"Tile"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape repeats{};  ///< for each axis of x

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("repeats", self.repeats);
  }
  constexpr bool operator==(const Tile&) const = default;

  /// A dimension that is not repeated is folded into the one before it.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Tile, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const auto& dims = x_value.dims;
    const auto& y = graph.output(node, 0).dims;
    if (y.size() != dims.size()) return std::nullopt;
    Tile tile{.type = x_value.type};
    bool any = false;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 1 || y[i] % dims[i] != 0) return std::nullopt;
      const std::int64_t repeats = y[i] / dims[i];
      any = any || repeats != 1;
      if (repeats == 1 && !tile.x.empty()) {
        tile.x[tile.x.size() - 1] = checked_product(tile.x.back(), dims[i]);
      } else if (repeats != 1 || dims[i] != 1) {
        if (tile.x.size() == TensorShape::capacity) return std::nullopt;
        tile.x.push_back(dims[i]);
        tile.repeats.push_back(repeats);
      }
    }
    if (!any) return std::nullopt;
    return tile;
  }

  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape;
    for (std::size_t i = 0; i < x.size(); ++i) shape.push_back(checked_product(x[i], repeats[i]));
    return shape;
  }
  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "input", .type = type, .shape = x}},
            .outputs = {{.name = "output", .type = type, .shape = y()}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x) && detail::are_sizes(repeats, x.size()) && detail::are_sizes(y());
  }
};

}  // namespace benanza::op
