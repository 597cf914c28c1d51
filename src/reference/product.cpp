// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"

namespace benanza::reference {

namespace {

template <class A, class B>
double dot(const A& a, std::int64_t a_base, std::int64_t a_stride, const B& b, std::int64_t b_base,
           std::int64_t b_stride, std::int64_t length, double zero_a, double zero_b) {
  double sum = 0;
  for (std::int64_t k = 0; k < length; ++k)
    sum += (static_cast<double>(a[a_base + k * a_stride]) - zero_a) *
           (static_cast<double>(b[b_base + k * b_stride]) - zero_b);
  return sum;
}

TensorShape batch_of(const TensorShape& shape) { return part(shape, 0, shape.size() - 2); }

}  // namespace

Elements compute(const op::MatMul& product, const Query& query) {
  const TensorShape y = product.y(), batch_a = batch_of(product.a), batch_b = batch_of(product.b);
  const std::int64_t m = product.m(), k = product.k(), n = product.n();
  const ConstTensor &a = query.input(0), &b = query.input(1);
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat), batch = batch_of(at);
    const std::int64_t row = at[at.size() - 2], column = at.back();
    const std::int64_t a_base = broadcast_index(batch_a, batch) * m * k + (product.trans_a ? row : row * k);
    const std::int64_t b_base = broadcast_index(batch_b, batch) * k * n + (product.trans_b ? column * k : column);
    const std::int64_t a_stride = product.trans_a ? m : 1, b_stride = product.trans_b ? 1 : n;
    if (a.floats() != nullptr && b.floats() != nullptr)
      return dot(a.floats(), a_base, a_stride, b.floats(), b_base, b_stride, k, 0, 0);
    return dot(a, a_base, a_stride, b, b_base, b_stride, k, query.parameters.zero_point_a,
               query.parameters.zero_point_b);
  });
}

Elements compute(const op::Einsum& einsum, const Query& query) {
  // The labels that are summed over, with their extents, follow those of the result. A point of the whole space has one
  // coordinate per label.
  TensorShape summed, extents;
  const auto collect = [&](const TensorShape& labels) {
    for (auto label : labels)
      if (std::find(einsum.y_labels.begin(), einsum.y_labels.end(), label) == einsum.y_labels.end() &&
          std::find(summed.begin(), summed.end(), label) == summed.end()) {
        summed.push_back(label);
        extents.push_back(einsum.extent(label));
      }
  };
  collect(einsum.a_labels);
  collect(einsum.b_labels);

  const TensorShape y = einsum.y();
  const auto offset = [&](const TensorShape& shape, const TensorShape& labels, const TensorShape& at_y,
                          const TensorShape& at_summed) {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto in_y = std::find(einsum.y_labels.begin(), einsum.y_labels.end(), labels[i]) - einsum.y_labels.begin();
      const auto in_sum = std::find(summed.begin(), summed.end(), labels[i]) - summed.begin();
      const std::int64_t coordinate = static_cast<std::size_t>(in_y) < at_y.size()
                                          ? at_y[static_cast<std::size_t>(in_y)]
                                          : at_summed[static_cast<std::size_t>(in_sum)];
      flat = flat * shape[i] + (shape[i] == 1 ? 0 : coordinate);
    }
    return flat;
  };
  return query.map([&](std::int64_t flat) {
    const TensorShape at_y = coordinates(y, flat);
    TensorShape at = TensorShape::filled(summed.size(), 0);
    double sum = 0;
    if (element_count(extents) == 0) return sum;
    do {
      double term = query.input(0)[offset(einsum.a, einsum.a_labels, at_y, at)];
      if (einsum.two_operands) term *= query.input(1)[offset(einsum.b, einsum.b_labels, at_y, at)];
      sum += term;
    } while (advance(extents, at));
    return sum;
  });
}

}  // namespace benanza::reference
