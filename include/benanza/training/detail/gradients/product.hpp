// SPDX-License-Identifier: Apache-2.0
// Gradients of matrix products: products with one operand transposed.
#pragma once

#include <benanza/training/gradient_builder.hpp>

namespace benanza::training {

/// alpha op(a) op(b), where op exchanges the last two dimensions or does nothing.
inline ValueId fused_product(GradientBuilder& at, ValueId a, bool trans_a, ValueId b, bool trans_b, Dims dims,
                             double alpha) {
  Attributes attributes;
  if (alpha != 1) attributes.emplace("alpha", alpha);
  if (trans_a) attributes.emplace("transA", std::int64_t{1});
  if (trans_b) attributes.emplace("transB", std::int64_t{1});
  return at.emit({"FusedMatMul", microsoft_domain}, {a, b}, at.value(a).type, std::move(dims), std::move(attributes));
}

/// y = alpha op(a) op(b): da = alpha dy op(b)^T, db = alpha op(a)^T dy, or the transposes of these.
inline void product_gradients(const Node& node, GradientBuilder& at, ValueId dy, bool trans_a, bool trans_b) {
  const double alpha = node.attribute("alpha", 1.0);
  const ValueId a = *node.inputs[0], b = *node.inputs[1];
  const Dims a_dims = at.value(a).dims, b_dims = at.value(b).dims, y_dims = at.value(dy).dims;
  const auto batched = [](const Dims& dims, std::int64_t rows, std::int64_t columns) {
    Dims result(dims.begin(), dims.size() > 2 ? dims.end() - 2 : dims.begin());
    result.insert(result.end(), {rows, columns});
    return result;
  };
  const auto rows = [](const Dims& dims) { return dims[dims.size() - 2]; };
  if (!trans_a && a_dims.size() > 2 && b_dims.size() == 2) {  // one product of all rows
    const std::int64_t depth = b_dims[trans_b ? 1 : 0], columns = b_dims[trans_b ? 0 : 1];
    const std::int64_t all = depth > 0 ? element_count(a_dims) / depth : 0;
    const ValueId dy_rows = at.reshape(dy, {all, columns});
    at.give_input(node, 1, [&] {
      if (trans_b) return fused_product(at, dy_rows, true, at.reshape(a, {all, depth}), false, b_dims, alpha);
      return fused_product(at, at.reshape(a, {all, depth}), true, dy_rows, false, b_dims, alpha);
    });
    at.give_input(node, 0, [&] {
      return at.reshape(fused_product(at, dy_rows, false, b, !trans_b, {all, depth}, alpha), a_dims);
    });
    return;
  }
  at.give_input(node, 1, [&] {
    const Dims dims = batched(y_dims, rows(b_dims), b_dims.back());
    return at.sum_to(trans_b ? fused_product(at, dy, true, a, trans_a, dims, alpha)
                             : fused_product(at, a, !trans_a, dy, false, dims, alpha),
                     b_dims);
  });
  at.give_input(node, 0, [&] {
    const Dims dims = batched(y_dims, rows(a_dims), a_dims.back());
    return at.sum_to(trans_a ? fused_product(at, b, trans_b, dy, true, dims, alpha)
                             : fused_product(at, dy, false, b, !trans_b, dims, alpha),
                     a_dims);
  });
}

/// A vector is a matrix of one row (on the left) or of one column (on the right).
inline void mat_mul_gradient(const Node& node, GradientBuilder& at) {
  const Dims a = at.value(*node.inputs[0]).dims, b = at.value(*node.inputs[1]).dims;
  const ValueId dy = *at.gradient(node);
  if (a.size() >= 2 && b.size() >= 2)
    return product_gradients(node, at, dy, node.attribute<std::int64_t>("transA", 0) != 0,
                             node.attribute<std::int64_t>("transB", 0) != 0);
  const Dims a_matrix = a.size() == 1 ? Dims{1, a[0]} : a, b_matrix = b.size() == 1 ? Dims{b[0], 1} : b;
  Dims y(a.size() > b.size() ? a_matrix : b_matrix);
  y[y.size() - 2] = a_matrix[a_matrix.size() - 2];
  y.back() = b_matrix.back();
  const double alpha = node.attribute("alpha", 1.0);
  const ValueId whole = at.reshape(dy, y);
  at.give_input(node, 1, [&] {
    const Dims dims{b_matrix[b_matrix.size() - 2], b_matrix.back()};
    Dims all(y.begin(), y.end() - 2);
    all.insert(all.end(), dims.begin(), dims.end());
    const ValueId made = fused_product(at, at.reshape(*node.inputs[0], a_matrix), true, whole, false, all, alpha);
    return at.reshape(at.sum_to(made, b_matrix), b);
  });
  at.give_input(node, 0, [&] {
    Dims all(y.begin(), y.end() - 2);
    all.insert(all.end(), {a_matrix[a_matrix.size() - 2], a_matrix.back()});
    const ValueId made = fused_product(at, whole, false, at.reshape(*node.inputs[1], b_matrix), true, all, alpha);
    return at.reshape(at.sum_to(made, a_matrix), a);
  });
}

/// y = alpha op(a) op(b) + beta c.
inline void gemm_gradient(const Node& node, GradientBuilder& at) {
  const ValueId dy = *at.gradient(node);
  at.give_input(node, 2, [&] {
    const ValueId sum = at.sum_to(dy, at.value(*node.inputs[2]).dims);
    const double beta = node.attribute("beta", 1.0);
    return beta == 1 ? sum : at.multiply(sum, at.scalar(at.value(sum).type, beta), at.value(sum).dims);
  });
  product_gradients(node, at, dy, node.attribute<std::int64_t>("transA", 0) != 0,
                    node.attribute<std::int64_t>("transB", 0) != 0);
}

}  // namespace benanza::training
