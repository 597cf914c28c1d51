// SPDX-License-Identifier: Apache-2.0
// Einsum of one or two tensors, generic: a loop for each label. If an operand is contiguous along the last label of the
// result, that label is processed as a row. Otherwise, a summed label along which both operands are contiguous is a dot
// product.
#include "context.hpp"

#include <algorithm>
#include <vector>

namespace benanza::native {

namespace {

struct Loop {
  Index label = 0, size = 1, a_stride = 0, b_stride = 0;
};

/// Stride of a label in a tensor: 0 if it is absent or the tensor broadcasts, the sum of both strides if it occurs
/// twice (a diagonal).
Index stride_of(const TensorShape& shape, const TensorShape& labels, Index label) {
  Index stride = 1, result = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (labels[i] == label && shape[i] != 1) result += stride;
    stride *= shape[i];
  }
  return result;
}

bool holds(const TensorShape& labels, Index label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// Offsets of a and b after `flat` steps through the loops, innermost last.
std::pair<Index, Index> offsets(const std::vector<Loop>& loops, Index flat) {
  Index a = 0, b = 0;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Index at = flat % loops[i].size;
    flat /= loops[i].size;
    a += at * loops[i].a_stride;
    b += at * loops[i].b_stride;
  }
  return {a, b};
}
Index product(const std::vector<Loop>& loops) {
  Index count = 1;
  for (const auto& loop : loops) count *= loop.size;
  return count;
}

/// row[j] += a[j * sa] * b[j * sb]
void add_row(const Kernels& kernels, float* row, const float* a, Index sa, const float* b, Index sb, Index n) {
  if (sa == 0 && sb == 1) return kernels.scale_add(row, b, *a, n);
  if (sa == 1 && sb == 0) return kernels.scale_add(row, a, *b, n);
  if (sa == 1 && sb == 1) return kernels.multiply_add(row, a, b, n);
  for (Index j = 0; j < n; ++j) row[j] += a[j * sa] * b[j * sb];
}

}  // namespace

Result plans(const op::Einsum& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const auto loop = [&](Index label) {
    return Loop{label, op.extent(label), stride_of(op.a, op.a_labels, label),
                op.two_operands ? stride_of(op.b, op.b_labels, label) : 0};
  };
  std::vector<Loop> kept, summed;
  for (auto label : op.y_labels) kept.push_back(loop(label));
  const auto add_summed = [&](const TensorShape& labels) {
    for (auto label : labels)
      if (!holds(op.y_labels, label) &&
          std::none_of(summed.begin(), summed.end(), [&](const Loop& l) { return l.label == label; }))
        summed.push_back(loop(label));
  };
  add_summed(op.a_labels);
  if (op.two_operands) add_summed(op.b_labels);
  Loop row;  // the result's last label
  if (!kept.empty()) {
    row = kept.back();
    kept.pop_back();
  }
  const bool by_rows = row.a_stride + row.b_stride > 0 && row.a_stride <= 1 && row.b_stride <= 1;
  const auto along =
      std::find_if(summed.begin(), summed.end(), [](const Loop& l) { return l.a_stride == 1 && l.b_stride <= 1; });
  const bool by_dots = !by_rows && op.two_operands && along != summed.end() && along->b_stride == 1;
  Loop dot;
  if (by_dots) {
    dot = *along;
    summed.erase(along);
  }
  const Index rows = product(kept), terms = product(summed);
  return one_plan(
      context, op.operands(), by_dots ? "einsum:dots" : "einsum:rows",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        static constexpr float one = 1;
        const auto* a = input<float>(arguments, 0);
        const auto* b = op.two_operands ? input<float>(arguments, 1) : &one;
        pool->split(rows * row.size, threads, 16, [&](Index begin, Index end) {
          for (Index at = begin; at < end;) {
            const Index r = at / row.size, first = at % row.size, n = std::min(row.size - first, end - at);
            const auto [a_row, b_row] = offsets(kept, r);
            float* y = output<float>(arguments) + at;
            std::fill_n(y, n, 0.0F);
            for (Index t = 0; t < terms; ++t) {
              const auto [a_term, b_term] = offsets(summed, t);
              const float *p = a + a_row + a_term + first * row.a_stride,
                          *q = b + b_row + b_term + first * row.b_stride;
              if (!by_dots) {
                add_row(kernels, y, p, row.a_stride, q, row.b_stride, n);
              } else {
                for (Index j = 0; j < n; ++j) y[j] += kernels.dot(p + j * row.a_stride, q + j * row.b_stride, dot.size);
              }
            }
            at += n;
          }
        });
      });
}

}  // namespace benanza::native
