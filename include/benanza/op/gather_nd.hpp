// SPDX-License-Identifier: Apache-2.0
// GatherND: each index tuple picks a slice.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace benanza::op {

struct GatherNd {
  static constexpr std::string_view kind = "GatherNd";
  static constexpr Family family = Family::other;
  static constexpr std::array<std::string_view, 1> onnx_types{"GatherND"};
  DataType type = DataType::f32;
  TensorShape x{};
  TensorShape indices{};  ///< ...tuple length, which is last
  std::int64_t batch_dims = 0;
  DataType index_type = DataType::i64;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("indices", self.indices);
    visit("batch_dims", self.batch_dims);
    visit("index_type", self.index_type);
  }
  constexpr bool operator==(const GatherNd&) const = default;

  /// Batch dimensions are folded into one, and so are the other dimensions of the indices and those of a slice.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<GatherNd, decltype(graph)> {
    const Value& x_value = graph.input(node, 0);
    const Value& indices_value = graph.input(node, 1);
    const std::span<const std::int64_t> x = x_value.dims, indices = indices_value.dims;
    const std::int64_t given = node.attribute<std::int64_t>("batch_dims", 0);
    if (indices.empty() || given < 0 || given >= static_cast<std::int64_t>(indices.size())) return std::nullopt;
    const auto batch = static_cast<std::size_t>(given);
    if (batch > x.size() || indices.back() < 1 || indices.back() > static_cast<std::int64_t>(x.size() - batch))
      return std::nullopt;
    const std::size_t sliced = batch + static_cast<std::size_t>(indices.back());
    GatherNd result{.type = x_value.type, .index_type = indices_value.type};
    const std::int64_t batches = detail::product(x, 0, batch), slice = detail::product(x, sliced, x.size());
    if (batches != 1) {
      result.batch_dims = 1;
      result.x.push_back(batches);
      result.indices.push_back(batches);
    }
    result.indices.push_back(detail::product(indices, batch, indices.size() - 1));
    result.indices.push_back(indices.back());
    if (sliced - batch + 2 > TensorShape::capacity) return std::nullopt;
    for (std::size_t i = batch; i < sliced; ++i) result.x.push_back(x[i]);
    if (slice != 1) result.x.push_back(slice);
    return result;
  }

  /// Dimensions of one slice: those of x after the indexed axes.
  [[nodiscard]] constexpr TensorShape slice() const {
    return TensorShape(std::span(x.begin() + batch_dims + indices.back(), x.end()));
  }
  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape(std::span(indices.begin(), indices.size() - 1));
    for (auto dim : slice()) shape.push_back(dim);
    return shape;
  }
  [[nodiscard]] Operands operands() const {
    std::int64_t smallest = x[static_cast<std::size_t>(batch_dims)];  // one limit for every coordinate
    for (std::int64_t i = 0; i < indices.back(); ++i)
      smallest = std::min(smallest, x[static_cast<std::size_t>(batch_dims + i)]);
    const std::int64_t batches = batch_dims == 0 ? 1 : x[0];  // all indices may be equal
    const std::int64_t certain = checked_product(batches, element_count(slice()));
    return {.inputs = {{.name = "data", .type = type, .shape = x, .touched = std::min(element_count(y()), certain)},
                       {.name = "indices",
                        .type = index_type,
                        .shape = indices,
                        .contents = Contents::indices,
                        .limit = smallest}},
            .outputs = {{.name = "output", .type = type, .shape = y()}}};
  }
  [[nodiscard]] constexpr Arithmetic arithmetic() const { return {}; }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(x) || !detail::are_sizes(indices) || batch_dims < 0 ||
        batch_dims >= static_cast<std::int64_t>(indices.size()))
      return false;
    if (batch_dims >= static_cast<std::int64_t>(x.size()) ||
        indices.back() > static_cast<std::int64_t>(x.size()) - batch_dims)
      return false;
    if (indices.size() + x.size() - 1 > TensorShape::capacity + static_cast<std::size_t>(batch_dims + indices.back()))
      return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch_dims); ++i)
      if (x[i] != indices[i]) return false;
    return true;
  }
};

}  // namespace benanza::op
