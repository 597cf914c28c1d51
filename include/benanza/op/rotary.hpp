// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: pairs of elements of each row are rotated by an angle that depends on the row's position.
// Fusion creates it if exporters write it out in parts.
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
  TensorShape x{};           ///< positions, heads ... in any order, then the depth that is rotated
  TensorShape angles{};      ///< both cosines and sines: broadcasts to x; one per element, or one per pair
  bool interleaved = false;  ///< a pair is two neighbours; otherwise one element from each half of a row
  std::int64_t turned = 0;   ///< how many leading elements of a row are rotated; 0: all of them

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("angles", self.angles);
    visit("interleaved", self.interleaved);
    visit("turned", self.turned);
  }
  constexpr bool operator==(const Rotary&) const = default;

  /// Leading dimensions are folded, and the depth is kept. Nothing if there are too many dimensions.
  [[nodiscard]] static std::optional<Rotary> of(DataType type, detail::Dims x, detail::Dims angles, bool interleaved,
                                                std::int64_t turned = 0) {
    if (x.empty() || angles.empty()) return std::nullopt;
    const std::int64_t depth = x.back(), per_row = angles.back();
    x.pop_back();
    angles.pop_back();
    auto folded = detail::collapse(std::vector<detail::Dims>{std::move(x), std::move(angles)});
    folded[0].push_back(depth);
    folded[1].push_back(per_row);
    const auto x_shape = detail::to_shape(folded[0]), angles_shape = detail::to_shape(folded[1]);
    if (!x_shape || !angles_shape) return std::nullopt;
    return Rotary{.type = type,
                  .x = *x_shape,
                  .angles = *angles_shape,
                  .interleaved = interleaved,
                  .turned = turned == depth ? 0 : turned};
  }

  /// Reads ONNX RotaryEmbedding and com.microsoft's, with angles that are given for each position or picked from a
  /// table. Picking is not counted.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Rotary, decltype(graph)> {
    const bool own = node.domain.empty();
    const Value& x = graph.input(node, 0);
    const Value& cosines = graph.input(node, own ? 1 : 2);
    const Value* positions = own ? detail::optional_input(node, graph, 3) : &graph.input(node, 1);
    const std::size_t rank = cosines.dims.size();
    if (x.dims.size() < 3 || x.dims.size() > 4 || rank != (positions ? 2U : 3U) || cosines.dims.back() < 1)
      return std::nullopt;
    // x: batch, heads, tokens, depth or batch, tokens, heads * depth
    const bool by_heads = x.dims.size() == 4;
    const std::int64_t pairs = cosines.dims.back(), part = node.attribute<std::int64_t>("rotary_embedding_dim", 0),
                       heads = node.attribute<std::int64_t>("num_heads", 0), tokens = x.dims[by_heads ? 2 : 1];
    std::int64_t depth = x.dims.back();
    if (!by_heads) {
      depth = heads > 0 ? depth / heads : 2 * pairs;
      if (depth < 1 || x.dims[2] % depth != 0) return std::nullopt;
    }
    const std::int64_t rows = !positions ? cosines.dims[0] : positions->dims.size() == 2 ? positions->dims[0] : 1;
    const bool interleaved = node.attribute<std::int64_t>("interleaved", 0) != 0;
    if (by_heads) return of(x.type, x.dims, {rows, 1, tokens, pairs}, interleaved, part);
    return of(x.type, {x.dims[0], tokens, x.dims[2] / depth, depth}, {rows, tokens, 1, pairs}, interleaved, part);
  }

  [[nodiscard]] constexpr std::int64_t depth() const { return x.back(); }
  /// Elements of a row that are rotated.
  [[nodiscard]] constexpr std::int64_t turned_depth() const { return turned == 0 ? depth() : turned; }

  [[nodiscard]] Operands operands() const {
    return {.inputs = {{.name = "x", .type = type, .shape = x},
                       {.name = "cos", .type = type, .shape = angles},
                       {.name = "sin", .type = type, .shape = angles}},
            .outputs = {{.name = "y", .type = type, .shape = x}}};
  }

  /// Two products and their sum or difference per rotated element.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    return {.flops = 3.0 * static_cast<double>(element_count(x) / depth() * turned_depth())};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || !detail::are_sizes(angles, x.size())) return false;
    if (turned < 0 || turned > depth() || turned_depth() % 2 != 0) return false;
    if (angles.back() != turned_depth() && angles.back() != turned_depth() / 2) return false;
    TensorShape whole = angles;
    whole[whole.size() - 1] = depth();
    return detail::broadcasts_to(whole, x);
  }
};

}  // namespace benanza::op
