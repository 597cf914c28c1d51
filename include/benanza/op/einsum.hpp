// SPDX-License-Identifier: Apache-2.0
// Einsum of one or two tensors that is not a plain matrix product. Labels are small integers, one for each index
// letter.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/einsum_labels.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

struct Einsum {
  static constexpr std::string_view kind = "Einsum";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 1> onnx_types{"Einsum"};
  DataType type = DataType::f32;
  TensorShape a{};
  TensorShape b{};         ///< rank 0 without labels: there is only one operand
  TensorShape a_labels{};  ///< one for each axis of a
  TensorShape b_labels{};
  TensorShape y_labels{};  ///< of the result; a label that is missing here is summed over
  bool two_operands = true;

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("a", self.a);
    visit("b", self.b);
    visit("a_labels", self.a_labels);
    visit("b_labels", self.b_labels);
    visit("y_labels", self.y_labels);
    visit("two_operands", self.two_operands);
  }
  constexpr bool operator==(const Einsum&) const = default;

  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Einsum, decltype(graph)> {
    if (node.inputs.empty() || node.inputs.size() > 2) return std::nullopt;
    const Value& a_value = graph.input(node, 0);
    const Value* b_value = detail::optional_input(node, graph, 1);
    const auto labels = detail::EinsumLabels::parse(node.attribute<std::string>("equation", ""), a_value.dims.size(),
                                                    b_value ? std::optional(b_value->dims.size()) : std::nullopt);
    if (!labels) return std::nullopt;
    return Einsum{.type = a_value.type,
                  .a = TensorShape(a_value.dims),
                  .b = b_value ? TensorShape(b_value->dims) : TensorShape{},
                  .a_labels = labels->a,
                  .b_labels = labels->b,
                  .y_labels = labels->y,
                  .two_operands = b_value != nullptr};
  }

  [[nodiscard]] constexpr std::int64_t extent(std::int64_t label) const {
    const std::int64_t size = size_in(b, b_labels, label);
    return size != 1 ? size : size_in(a, a_labels, label);
  }
  [[nodiscard]] constexpr TensorShape y() const {
    TensorShape shape;
    for (auto label : y_labels) shape.push_back(extent(label));
    return shape;
  }
  [[nodiscard]] Operands operands() const {
    Operands result{.inputs = {{.name = "a", .type = type, .shape = a, .touched = touched(a, a_labels)}},
                    .outputs = {{.name = "output", .type = type, .shape = y()}}};
    if (two_operands) result.inputs.push_back({.name = "b", .type = type, .shape = b, .touched = touched(b, b_labels)});
    return result;
  }

  /// ONNX Einsum. Labels that occur in one operand only and not in the result are summed first: one addition for each
  /// element of that operand. Then there is one multiply-add for each point of the space of the remaining labels, or
  /// one multiplication if nothing is left to sum.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    TensorShape left;
    std::int64_t points = 1;
    double additions = 0;
    bool sums = false;
    const auto visit = [&](const TensorShape& shape, const TensorShape& labels, const TensorShape& other,
                           const TensorShape& other_labels) {
      TensorShape seen;
      std::int64_t elements = 1;
      bool alone = false;
      for (const auto label : labels) {
        const std::int64_t size = size_in(shape, labels, label);
        if (size == 1 || detail::contains(seen, label)) continue;
        seen.push_back(label);
        elements = checked_product(elements, size);
        const bool kept = detail::contains(y_labels, label);
        if (!kept && size_in(other, other_labels, label) == 1) {
          alone = true;
          continue;
        }
        sums = sums || !kept;
        if (detail::contains(left, label)) continue;
        left.push_back(label);
        points = checked_product(points, size);
      }
      if (alone) additions += static_cast<double>(elements);
    };
    visit(a, a_labels, b, b_labels);
    visit(b, b_labels, a, a_labels);
    if (!two_operands) return {.flops = additions};
    return {.macs = points, .flops = additions + (sums ? 2.0 : 1.0) * static_cast<double>(points)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (a.size() != a_labels.size() || b.size() != b_labels.size() || (!two_operands && !b.empty())) return false;
    TensorShape sizes = TensorShape::filled(TensorShape::capacity, 1);  // by label
    const auto agree = [&sizes](const TensorShape& shape, const TensorShape& labels) {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!detail::is_size(shape[i]) || labels[i] < 0 || labels[i] >= static_cast<std::int64_t>(sizes.size()))
          return false;
        std::int64_t& size = sizes[static_cast<std::size_t>(labels[i])];
        if (size != 1 && shape[i] != 1 && size != shape[i]) return false;
        size = size == 1 ? shape[i] : size;
      }
      return true;
    };
    if (!agree(a, a_labels) || !agree(b, b_labels)) return false;
    for (auto label : y_labels)
      if (std::count(y_labels.begin(), y_labels.end(), label) != 1 ||
          (!detail::contains(a_labels, label) && !detail::contains(b_labels, label)))
        return false;
    return true;
  }

 private:
  /// The size of a label in one operand, 1 if it is absent or broadcasts.
  [[nodiscard]] static constexpr std::int64_t size_in(const TensorShape& shape, const TensorShape& labels,
                                                      std::int64_t label) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (labels[i] == label && shape[i] != 1) return shape[i];
    return 1;
  }
  /// An operand in which a label occurs twice is read along the diagonal.
  [[nodiscard]] static std::optional<std::int64_t> touched(const TensorShape& shape, const TensorShape& labels) {
    std::int64_t diagonal = 1;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (std::find(labels.begin(), labels.begin() + i, labels[i]) == labels.begin() + i)
        diagonal = checked_product(diagonal, shape[i]);
    return diagonal < element_count(shape) ? std::optional(diagonal) : std::nullopt;
  }
};

}  // namespace benanza::op
