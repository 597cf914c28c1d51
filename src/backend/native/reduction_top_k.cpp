// SPDX-License-Identifier: Apache-2.0
// TopK: the best k so far are in a heap whose worst element is the threshold; a vectorised search skips everything that
// does not pass it. Among equal values, the one with the lower index comes first. NaN is greater than all numbers, as
// in NumPy and ONNX Runtime.
#include "context.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace benanza::native {

namespace {

struct Ranked {
  float value = 0;
  std::int64_t at = 0;
};

/// Whether a ranks before b.
template <bool largest>
bool better(const Ranked& a, const Ranked& b) {
  const bool a_is_nan = std::isnan(a.value), b_is_nan = std::isnan(b.value);
  if (a_is_nan != b_is_nan) return largest == a_is_nan;
  if (!a_is_nan && a.value != b.value) return largest ? a.value > b.value : a.value < b.value;
  return a.at < b.at;
}

/// The best k of a run, sorted, in `heap`.
template <bool largest>
void select(const Kernels& kernels, const float* x, Index n, Index k, Ranked* heap) {
  for (Index i = 0; i < k; ++i) heap[i] = {x[i], i};
  if (k * 8 >= n) {  // too many to maintain a heap
    for (Index i = k; i < n; ++i) heap[i] = {x[i], i};
    if (k < n) std::nth_element(heap, heap + k, heap + n, better<largest>);
    std::sort(heap, heap + k, better<largest>);
    return;
  }
  std::make_heap(heap, heap + k, better<largest>);  // the worst on top
  const auto search = largest ? kernels.find_above : kernels.find_below;
  for (Index i = k; i < n; ++i) {
    i += search(x + i, n - i, heap[0].value);
    if (i >= n) break;
    if (!better<largest>({x[i], i}, heap[0])) continue;  // NaN
    std::pop_heap(heap, heap + k, better<largest>);
    heap[k - 1] = {x[i], i};
    std::push_heap(heap, heap + k, better<largest>);
  }
  std::sort_heap(heap, heap + k, better<largest>);
}

}  // namespace

Result plans(const op::TopK& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index outer = op.x[0], n = op.x[1], inner = op.x[2], k = op.k;
  if (k > n || k < 1) return Unsupported{"TopK of more elements than the axis has"};
  const std::size_t candidates = static_cast<std::size_t>(k * 8 >= n ? n : k) * sizeof(Ranked);
  const std::size_t scratch =
      (candidates + (inner == 1 ? 0 : static_cast<std::size_t>(n) * sizeof(float)) + 63) / 64 * 64;
  return one_plan(
      context, op.operands(), "top_k",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        pool->parallel(threads, [&](int thread) {
          auto* heap = reinterpret_cast<Ranked*>(static_cast<std::byte*>(arguments.workspace) +
                                                 static_cast<std::size_t>(thread) * scratch);
          auto* run = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(heap) + candidates);
          const Range mine = share(outer * inner, threads, thread);
          for (Index r = mine.begin; r < mine.end; ++r) {
            const float* x = input<float>(arguments, 0) + r / inner * n * inner + r % inner;
            if (inner != 1) {
              kernels.strided[2](x, inner, run, n);
              x = run;
            }
            (op.largest ? select<true> : select<false>)(kernels, x, n, k, heap);
            const Index to = r / inner * k * inner + r % inner;
            for (Index i = 0; i < k; ++i) {
              output<float>(arguments, 0)[to + i * inner] = heap[i].value;
              output<std::int64_t>(arguments, 1)[to + i * inner] = heap[i].at;
            }
          }
        });
      },
      scratch * static_cast<std::size_t>(context.threads));
}

}  // namespace benanza::native
