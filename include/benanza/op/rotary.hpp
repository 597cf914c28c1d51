// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pairs of elements of each row turned by an angle of the row's position. Made by fusion
// where exporters write it out in parts.
#pragma once

#include <benanza/detail/collapse.hpp>
#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::op {

struct Rotary {
  static constexpr std::string_view kind = "Rotary";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 2> onnx_types{"RotaryEmbedding", "com.microsoft.RotaryEmbedding"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< positions, heads ... in any order, then the depth that is turned
  TensorShape angles{};      ///< of cosines and of sines: broadcasts to x; one for each element, or one for each pair
  bool interleaved = false;  ///< pairs are neighbours; otherwise an element of each half of a row

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("angles", self.angles);
    visit("interleaved", self.interleaved);
  }
  constexpr bool operator==(const Rotary&) const = default;

  /// Leading dimensions folded, the depth left alone; nothing where there are too many.
  [[nodiscard]] static std::optional<Rotary> of(DataType type, detail::Dims x, detail::Dims angles, bool interleaved) {
    if (x.empty() || angles.empty()) return std::nullopt;
    const std::int64_t depth = x.back(), turned = angles.back();
    x.pop_back();
    angles.pop_back();
    auto folded = detail::collapse(std::vector<detail::Dims>{std::move(x), std::move(angles)});
    folded[0].push_back(depth);
    folded[1].push_back(turned);
    const auto x_shape = detail::to_shape(folded[0]), angles_shape = detail::to_shape(folded[1]);
    if (!x_shape || !angles_shape) return std::nullopt;
    return Rotary{.type = type, .x = *x_shape, .angles = *angles_shape, .interleaved = interleaved};
  }

  /// ONNX RotaryEmbedding whose angles are those of the given positions, and turn whole rows; com.microsoft's, which
  /// picks the angles of its positions from a table.
  [[nodiscard]] static std::optional<Rotary> from(const Node& node, const AnyGraph auto& graph) {
    if (!node.domain.empty()) return from_table(node, graph);
    if (node.inputs.size() < 3 || node.has_input(3) || node.attribute<std::int64_t>("rotary_embedding_dim", 0) != 0)
      return std::nullopt;
    const Value& x = graph.input(node, 0);
    const auto &cosines = graph.input(node, 1).dims, &sines = graph.input(node, 2).dims;
    if (x.dims.size() != 4 || cosines.size() != 3 || sines != cosines) return std::nullopt;
    return of(x.type, x.dims, {cosines[0], 1, cosines[1], cosines[2]},
              node.attribute<std::int64_t>("interleaved", 0) != 0);
  }

  [[nodiscard]] constexpr std::int64_t depth() const { return x.back(); }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x},
                       {.name = "cos", .type = type, .shape = angles},
                       {.name = "sin", .type = type, .shape = angles}},
            .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// Two products and their sum or difference an element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 3.0 * static_cast<double>(element_count(x))};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || !detail::are_sizes(angles, x.size()) || depth() % 2 != 0) return false;
    if (angles.back() != depth() && angles.back() != depth() / 2) return false;
    TensorShape whole = angles;
    whole[whole.size() - 1] = depth();
    return detail::broadcasts_to(whole, x);
  }

 private:
  // x [batch, heads, tokens, depth] or [batch, tokens, heads * depth], position_ids, cosines [positions, depth / 2],
  // sines
  [[nodiscard]] static std::optional<Rotary> from_table(const Node& node, const AnyGraph auto& graph) {
    const Value& x = graph.input(node, 0);
    const auto &positions = graph.input(node, 1).dims, &cosines = graph.input(node, 2).dims;
    if (node.attribute<std::int64_t>("rotary_embedding_dim", 0) != 0 || cosines.size() != 2 || cosines[1] < 1)
      return std::nullopt;
    const bool interleaved = node.attribute<std::int64_t>("interleaved", 0) != 0;
    const std::int64_t rows = positions.size() == 2 ? positions[0] : 1, depth = 2 * cosines[1];
    if (x.dims.size() == 4) return of(x.type, x.dims, {rows, 1, x.dims[2], cosines[1]}, interleaved);
    if (x.dims.size() != 3 || x.dims[2] % depth != 0) return std::nullopt;
    return of(x.type, {x.dims[0], x.dims[1], x.dims[2] / depth, depth}, {rows, x.dims[1], 1, cosines[1]}, interleaved);
  }
};

}  // namespace benanza::op
