// SPDX-License-Identifier: Apache-2.0
// Matrix products and sums of products by index.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/base/detail/einsum_labels.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/epilogue.hpp>
#include <benanza/model/fused_node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/product.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<MatMul> MatMul::from(const Node& node, const Graph& graph) {
  if (node.op_type == "Einsum") return from_einsum(node, graph);
  if (node.op_type == "MatMulNBits" || node.op_type == "MatMulBnb4") return from_packed(node, graph);
  const Inputs at = inputs_of(node.op_type);
  Value a_value = graph.input(node, 0);
  if (node.op_type == "DynamicQuantizeMatMul") a_value.type = DataType::u8;  // the node quantises a itself
  const Value& b_value = graph.input(node, at.b);
  detail::Dims a_dims = batch_first(node, "transBatchA", a_value.dims),
               b_dims = batch_first(node, "transBatchB", b_value.dims);
  if (a_dims.empty() || b_dims.empty()) return std::nullopt;
  if (a_dims.size() == 1) a_dims.insert(a_dims.begin(), 1);
  if (b_dims.size() == 1) b_dims.push_back(1);
  const bool a_transposed = node.attribute<std::int64_t>("transA", 0) != 0;
  const bool b_transposed = node.attribute<std::int64_t>("transB", 0) != 0;
  if (a_transposed) std::swap(a_dims[a_dims.size() - 1], a_dims[a_dims.size() - 2]);
  if (b_transposed) std::swap(b_dims[b_dims.size() - 1], b_dims[b_dims.size() - 2]);
  auto result = canonical(a_value, a_dims, a_transposed, b_value, b_dims, b_transposed);
  if (!result) return std::nullopt;
  result->y_type = detail::if_other(graph.output(node, 0).type, a_value.type);
  if (is_8_bit(a_value.type)) {
    result->a_zero = at.a_zero == 0 || detail::has_zero_point(node, graph, at.a_zero);
    result->b_zero = detail::has_zero_point(node, graph, at.b_zero);
  }
  const Value* c = at.c != 0 ? detail::optional_input(node, graph, at.c) : nullptr;
  if (c) {
    const auto step = addend(*c, result->y());
    if (!step) return std::nullopt;
    result->post.push_back(*step);
  }
  return detail::append_activation(result->post, node) ? result : std::nullopt;
}

BENANZA_INLINE TensorShape MatMul::batch() const {
  const auto leading = [](const TensorShape& shape) { return TensorShape(std::span(shape.begin(), shape.size() - 2)); };
  return broadcast(leading(a), leading(b));
}

BENANZA_INLINE TensorShape MatMul::y() const {
  TensorShape shape = batch();
  shape.push_back(m());
  shape.push_back(n());
  return shape;
}

BENANZA_INLINE Operands MatMul::operands() const {
  const auto stored = [](TensorShape shape, bool transposed) {
    if (transposed) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return shape;
  };
  const auto magnitudes =
      detail::Magnitudes::of_sum(type, b_type.value_or(type), y_type.value_or(type), k(), a_zero, b_zero);
  Operands result{.inputs = {{.name = "a", .type = type, .shape = stored(a, trans_a), .constant = a_constant},
                             {.name = "b",
                              .type = b_type.value_or(type),
                              .shape = stored(b, trans_b),
                              .constant = b_constant,
                              .contents = is_8_bit(type) ? Contents::even : Contents::uniform,
                              .exponent = magnitudes.factor}},
                  .outputs = {{.name = "y", .type = y_type.value_or(type), .shape = y()}}};
  detail::append_epilogue_operands(result, post, y_type.value_or(type), y(), y().size() - 1, is_8_bit(type),
                                   magnitudes);
  return result;
}

BENANZA_INLINE Arithmetic MatMul::arithmetic() const {
  const std::int64_t outputs = element_count(y());
  const std::int64_t macs = checked_product(outputs, k());
  return {.macs = macs,
          .flops = 2.0 * static_cast<double>(macs) + static_cast<double>(post.size()) * static_cast<double>(outputs)};
}

BENANZA_INLINE bool MatMul::consistent() const {
  if (a.size() < 2 || b.size() < 2 || !detail::are_sizes(a) || !detail::are_sizes(b) || k() != b[b.size() - 2])
    return false;
  const auto leading = [](const TensorShape& shape) { return TensorShape(std::span(shape.begin(), shape.size() - 2)); };
  return detail::broadcasts(leading(a), leading(b)) && detail::fits(post, y());
}

BENANZA_INLINE MatMul::Inputs MatMul::inputs_of(std::string_view op) {
  if (op == "QLinearMatMul") return {.b = 3, .a_zero = 2, .b_zero = 5};
  if (op == "QGemm") return {.b = 3, .a_zero = 2, .b_zero = 5, .c = 6};
  if (op == "DynamicQuantizeMatMul") return {.a_zero = 0, .b_zero = 3, .c = 4};
  if (op == "MatMulIntegerToFloat") return {.a_zero = 4, .b_zero = 5, .c = 6};
  if (op == "Gemm" || op == "FusedGemm") return {.c = 2};
  return {};
}

BENANZA_INLINE detail::Dims MatMul::batch_first(const Node& node, std::string_view key, detail::Dims dims) {
  if (node.attribute<std::int64_t>(key, 0) != 0 && dims.size() > 2)
    std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  return dims;
}

BENANZA_INLINE std::optional<MatMul> MatMul::from_packed(const Node& node, const Graph& graph) {
  const Value& packed = graph.input(node, 1);
  Value a_value = graph.input(node, 0);
  if (a_value.dims.size() < 2) return std::nullopt;
  const std::int64_t bits = node.attribute<std::int64_t>("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) return std::nullopt;
  const Value b_value{.type = bits == 2   ? DataType::u2
                              : bits == 4 ? DataType::u4
                                          : DataType::u8,
                      .dims = {node.attribute<std::int64_t>("K", 0), node.attribute<std::int64_t>("N", 0)},
                      .constant = packed.constant};
  if (a_value.dims.back() != b_value.dims[0]) return std::nullopt;
  if (node.attribute<std::int64_t>("accuracy_level", 0) == 4) a_value.type = DataType::i8;
  auto result = canonical(a_value, a_value.dims, false, b_value, b_value.dims, false);
  if (!result) return std::nullopt;
  result->y_type = detail::if_other(graph.output(node, 0).type, a_value.type);
  if (const Value* bias_value = detail::optional_input(node, graph, 5)) {
    const auto step = addend(*bias_value, result->y());
    if (!step) return std::nullopt;
    result->post.push_back(*step);
  }
  return result;
}

BENANZA_INLINE std::optional<MatMul> MatMul::canonical(const Value& a_value, detail::Dims a_dims, bool a_transposed,
                                                       const Value& b_value, detail::Dims b_dims, bool b_transposed) {
  const std::int64_t rows = a_dims[a_dims.size() - 2], depth = a_dims.back(), columns = b_dims.back();
  MatMul result{.type = a_value.type,
                .a_constant = a_value.constant,
                .b_constant = b_value.constant,
                .b_type = detail::if_other(b_value.type, a_value.type)};
  result.trans_a = a_transposed && !a_value.constant && rows != 1 && depth != 1;
  result.trans_b = b_transposed && !b_value.constant && columns != 1 && depth != 1;
  a_dims.erase(a_dims.end() - 2, a_dims.end());
  const std::int64_t b_rows = b_dims[b_dims.size() - 2];
  b_dims.erase(b_dims.end() - 2, b_dims.end());
  const std::int64_t batch = element_count(a_dims);
  if (element_count(b_dims) == 1 && (!result.trans_a || batch == 1)) {
    result.a = {checked_product(batch, rows), depth};
    result.b = {b_rows, columns};
    return result;
  }
  auto batches = detail::collapse(std::vector<detail::Dims>{a_dims, b_dims});
  batches[0].insert(batches[0].end(), {rows, depth});
  batches[1].insert(batches[1].end(), {b_rows, columns});
  const auto a_shape = detail::to_shape(batches[0]), b_shape = detail::to_shape(batches[1]);
  if (!a_shape || !b_shape) return std::nullopt;
  result.a = *a_shape;
  result.b = *b_shape;
  return result;
}

BENANZA_INLINE std::optional<PostOp> MatMul::addend(const Value& c, const TensorShape& y) {
  const auto shape = detail::to_shape(detail::padded(c.dims, y.size()));
  if (!shape || !detail::broadcasts_to(*shape, y)) return std::nullopt;
  if (c.constant && *shape == TensorShape{1, y[1]}) return bias;
  return PostOp(ElementwiseFn::add, *shape == y ? TensorShape{} : *shape);
}

BENANZA_INLINE std::optional<MatMul> MatMul::from_einsum(const Node& node, const Graph& graph) {
  if (node.inputs.size() != 2) return std::nullopt;
  const Value& a_value = graph.input(node, 0);
  const Value& b_value = graph.input(node, 1);
  const auto labels = detail::EinsumLabels::parse(node.attribute<std::string>("equation", ""), a_value.dims.size(),
                                                  b_value.dims.size());
  if (!labels) return std::nullopt;
  const auto& [a_labels, b_labels, y_labels] = *labels;
  using detail::contains;
  TensorShape batch, rows, depth, columns;
  detail::Dims batch_dims, a_dims, b_dims;
  std::int64_t m = 1, k = 1, n = 1;
  for (std::size_t i = 0; i < a_labels.size(); ++i) {
    const auto label = a_labels[i], size = a_value.dims[i];
    const bool in_b = contains(b_labels, label), in_y = contains(y_labels, label);
    if (in_b) {
      const auto at = static_cast<std::size_t>(std::find(b_labels.begin(), b_labels.end(), label) - b_labels.begin());
      if (b_value.dims[at] != size) return std::nullopt;
    }
    if (in_b && in_y) batch.push_back(label), batch_dims.push_back(size);
    else if (in_y) rows.push_back(label), m = checked_product(m, size);
    else if (in_b) depth.push_back(label), k = checked_product(k, size);
    else return std::nullopt;
  }
  for (std::size_t i = 0; i < b_labels.size(); ++i) {
    if (contains(a_labels, b_labels[i])) continue;
    if (!contains(y_labels, b_labels[i])) return std::nullopt;
    columns.push_back(b_labels[i]);
    n = checked_product(n, b_value.dims[i]);
  }
  const auto is = [&batch](const TensorShape& term, const TensorShape& first, const TensorShape& second) {
    detail::Dims expected(batch.begin(), batch.end());
    expected.insert(expected.end(), first.begin(), first.end());
    expected.insert(expected.end(), second.begin(), second.end());
    return std::equal(term.begin(), term.end(), expected.begin(), expected.end());
  };
  if (depth.empty() || !is(y_labels, rows, columns)) return std::nullopt;
  const bool a_transposed = !is(a_labels, rows, depth), b_transposed = !is(b_labels, depth, columns);
  if ((a_transposed && !is(a_labels, depth, rows)) || (b_transposed && !is(b_labels, columns, depth)))
    return std::nullopt;
  a_dims = b_dims = batch_dims;
  a_dims.insert(a_dims.end(), {m, k});
  b_dims.insert(b_dims.end(), {k, n});
  return canonical(a_value, a_dims, a_transposed, b_value, b_dims, b_transposed);
}

BENANZA_INLINE std::optional<Einsum> Einsum::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE std::int64_t Einsum::extent(std::int64_t label) const {
  const std::int64_t size = size_in(b, b_labels, label);
  return size != 1 ? size : size_in(a, a_labels, label);
}

BENANZA_INLINE TensorShape Einsum::y() const {
  TensorShape shape;
  for (auto label : y_labels) shape.push_back(extent(label));
  return shape;
}

BENANZA_INLINE Operands Einsum::operands() const {
  Operands result{.inputs = {{.name = "a", .type = type, .shape = a, .touched = touched(a, a_labels)}},
                  .outputs = {{.name = "output", .type = type, .shape = y()}}};
  if (two_operands) result.inputs.push_back({.name = "b", .type = type, .shape = b, .touched = touched(b, b_labels)});
  return result;
}

BENANZA_INLINE Arithmetic Einsum::arithmetic() const {
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

BENANZA_INLINE bool Einsum::consistent() const {
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

BENANZA_INLINE std::int64_t Einsum::size_in(const TensorShape& shape, const TensorShape& labels, std::int64_t label) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (labels[i] == label && shape[i] != 1) return shape[i];
  return 1;
}

BENANZA_INLINE std::optional<std::int64_t> Einsum::touched(const TensorShape& shape, const TensorShape& labels) {
  std::int64_t diagonal = 1;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (std::find(labels.begin(), labels.begin() + i, labels[i]) == labels.begin() + i)
      diagonal = checked_product(diagonal, shape[i]);
  return diagonal < element_count(shape) ? std::optional(diagonal) : std::nullopt;
}

}  // namespace benanza::op
