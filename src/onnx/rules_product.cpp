// SPDX-License-Identifier: Apache-2.0
// Shape rules of products that engines write: fused, quantised and of packed weights.
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rule_tables.hpp"

namespace benanza::importer {

std::vector<std::int64_t> product_shape(std::vector<std::int64_t> a, std::vector<std::int64_t> b, bool transpose_a,
                                        bool transpose_b) {
  if (a.empty() || b.empty()) throw InputError("a matrix product of a scalar");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  if (transpose_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (transpose_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (a.back() != b[b.size() - 2])
    throw InputError("a matrix product of " + shape_text(a) + " and " + shape_text(b) + ": inner sizes differ");
  std::vector<std::int64_t> dims = broadcast_shapes(std::span(a).first(a.size() - 2), std::span(b).first(b.size() - 2));
  if (!vector_a) dims.push_back(a[a.size() - 2]);
  if (!vector_b) dims.push_back(b.back());
  return dims;
}

namespace {

/// A, B; each may have its last two dimensions exchanged, and its rows before its batch (transBatchA, transBatchB).
template <std::size_t first, std::size_t second>
Ints transposed_product(const RuleArguments& a) {
  const auto is_set = [&](const char* key) { return a.node.attribute<std::int64_t>(key, 0) != 0; };
  const auto operand = [&](std::size_t i, const char* rows_first) {
    Ints dims = a.in(i).dims;
    if (is_set(rows_first) && dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
    return dims;
  };
  return product_shape(operand(first, "transBatchA"), operand(second, "transBatchB"), is_set("transA"),
                       is_set("transB"));
}

RuleResult fused_matmul(const RuleArguments& a) { return {TypedShape{a.in(0).type, transposed_product<0, 1>(a)}}; }

RuleResult gemm(const RuleArguments& a) {
  if (a.in(0).dims.size() != 2 || a.in(1).dims.size() != 2)
    throw InputError("inputs of shape " + shape_text(a.in(0).dims) + " and " + shape_text(a.in(1).dims) +
                     ", expected two matrices");
  RuleResult y = fused_matmul(a);
  if (a.has(2) && broadcast_shapes(a.in(2).dims, y[0]->dims) != y[0]->dims)
    throw InputError("C of shape " + shape_text(a.in(2).dims) + " does not broadcast to " + shape_text(y[0]->dims));
  return y;
}

RuleResult matmul(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, product_shape(a.in(0).dims, a.in(1).dims)}};
}

// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point. Without y_zero_point the result is
// float, even if it is divided by y_scale.
RuleResult q_gemm(const RuleArguments& a) {
  return {TypedShape{a.has(8) ? a.in(8).type : DataType::f32, transposed_product<0, 3>(a)}};
}

RuleResult gemm_float8(const RuleArguments& a) {
  return {TypedShape{type_attribute(a, "dtype", DataType::f32), transposed_product<0, 1>(a)}};
}

// A, B, then scales: the product has the type of the scale.
template <std::size_t scale>
RuleResult matmul_to_float(const RuleArguments& a) {
  return {TypedShape{a.in(scale).type, product_shape(a.in(0).dims, a.in(1).dims)}};
}

RuleResult matmul_to_i32(const RuleArguments& a) {
  return {TypedShape{DataType::i32, product_shape(a.in(0).dims, a.in(1).dims)}};
}

// A, scale_A, B
RuleResult ordered_matmul(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, product_shape(a.in(0).dims, a.in(2).dims)}};
}

/// Like A, with the number of columns from the attribute: packed weights do not show it.
TypedShape with_columns(const RuleArguments& a, const char* key) {
  Ints dims = a.in(0).dims;
  if (dims.empty()) throw InputError("a matrix product of a scalar");
  dims.back() = a.node.attribute<std::int64_t>(key, unknown_dim);
  return {a.in(0).type, dims};
}

// A, B [N, blocks, bytes of a block]
RuleResult packed_weights(const RuleArguments& a) {
  const Ints& b = a.in(1).dims;
  const std::int64_t block_bits =
      a.node.attribute<std::int64_t>("block_size", 0) * a.node.attribute<std::int64_t>("bits", 4);
  if (b.size() == 3 && b[2] * 8 != block_bits)
    throw InputError("weights of shape " + shape_text(b) + ", but a block has " + std::to_string(block_bits) + " bits");
  return {with_columns(a, "N")};
}

// In the backward pass (transB = 0), the weights are K x N and A has N columns.
RuleResult bnb4_weights(const RuleArguments& a) {
  return {with_columns(a, a.node.attribute<std::int64_t>("transB", 1) != 0 ? "N" : "K")};
}

// A, B, B_shape
RuleResult weights_of_given_shape(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const auto weights = known_ints(a, 2);
  if (dims.empty()) throw InputError("a matrix product of a scalar");
  dims.back() = weights && weights->size() == 2 ? weights->back() : unknown_dim;
  return {TypedShape{a.in(0).type, dims}};
}

// The last output is the sum of A and skip.
RuleResult packed_mlp(const RuleArguments& a) { return {with_columns(a, "N"), TypedShape{a.in(0).type, a.in(0).dims}}; }
RuleResult packed_qkv(const RuleArguments& a) {
  return {with_columns(a, "Nq"), with_columns(a, "Nkv"), with_columns(a, "Nkv"),
          TypedShape{a.in(0).type, a.in(0).dims}};
}

// distance of each pair of a row of A and a row of B
RuleResult distances(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, {of_rank(a, 0, 2)[0], of_rank(a, 1, 2)[0]}}};
}

constexpr RuleEntry product_table[] = {
    {ShapeRule::gemm, gemm},
    {ShapeRule::product, matmul},
    {ShapeRule::distances, distances},
    {ShapeRule::product_to_float, matmul_to_float<2>},
    {ShapeRule::transposed_product, fused_matmul},
    {ShapeRule::gemm_float8, gemm_float8},
    {ShapeRule::bnb4_weights, bnb4_weights},
    {ShapeRule::weights_of_given_shape, weights_of_given_shape},
    {ShapeRule::product_to_i32, matmul_to_i32},
    {ShapeRule::packed_weights, packed_weights},
    {ShapeRule::packed_mlp, packed_mlp},
    {ShapeRule::packed_qkv, packed_qkv},
    {ShapeRule::q_gemm, q_gemm},
    {ShapeRule::ordered_product, ordered_matmul},
};

}  // namespace

RuleTable product_rules() { return product_table; }

}  // namespace benanza::importer
