// SPDX-License-Identifier: Apache-2.0
// Cumulative: one row after another, with adjacent columns processed together.
#include "context.hpp"

#include <algorithm>
#include <type_traits>

namespace benanza::native {

namespace {

/// The sum or product in the element type; integers wrap around.
template <class T, bool product>
T joined(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto left = static_cast<Unsigned>(a), right = static_cast<Unsigned>(b);
    return static_cast<T>(product ? left * right : left + right);
  } else {
    return product ? a * b : a + b;
  }
}

/// Processes `n` columns of one outer index.
template <class T, bool product>
void accumulate(const op::Cumulative& op, const void* from, void* to, Index place, Index n) {
  const auto* x = static_cast<const T*>(from) + place;
  auto* y = static_cast<T*>(to) + place;
  const Index length = op.x[1], inner = op.x[2], step = op.reverse ? -inner : inner;
  Index row = op.reverse ? (length - 1) * inner : 0;
  if (op.exclusive) std::fill_n(y + row, n, static_cast<T>(product ? 1 : 0));
  else std::copy_n(x + row, n, y + row);
  for (Index i = 1; i < length; ++i, row += step) {
    const T* added = x + row + (op.exclusive ? 0 : step);
    for (Index j = 0; j < n; ++j) y[row + step + j] = joined<T, product>(y[row + j], added[j]);
  }
}

template <class T>
Result plans_in(const op::Cumulative& op, const Context& context) {
  const Index length = op.x[1], inner = op.x[2];
  return one_plan(
      context, op.operands(), inner == 1 ? "cumulative:rows" : "cumulative:columns",
      [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->split(op.x[0] * inner, threads, inner == 1 ? 1 : 16, [&](Index begin, Index end) {
          for (Index at = begin; at < end;) {
            const Index first = at % inner, n = std::min(end - at, inner - first);
            (op.product ? accumulate<T, true> : accumulate<T, false>)(op, arguments.inputs[0], arguments.outputs[0],
                                                                      at / inner * length * inner + first, n);
            at += n;
          }
        });
      });
}

}  // namespace

Result plans(const op::Cumulative& op, const Context& context) {
  switch (op.type) {
    case DataType::f32: return plans_in<float>(op, context);
    case DataType::f64: return plans_in<double>(op, context);
    case DataType::i32: return plans_in<std::int32_t>(op, context);
    case DataType::i64: return plans_in<std::int64_t>(op, context);
    default: return unsupported(op.kind, op.type);
  }
}

}  // namespace benanza::native
