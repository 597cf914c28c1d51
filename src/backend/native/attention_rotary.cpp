// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings: threads take rows.
#include "context.hpp"

#include <algorithm>

namespace benanza::native {

Result plans(const op::Rotary& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  const Index depth = op.depth(), turned_depth = op.turned_depth(), pairs = turned_depth / 2, turned = op.angles.back(),
              rows = element_count(op.x) / depth;
  const Index second = turned == pairs ? 0 : op.interleaved ? 1 : pairs;
  const auto kernel = context.kernels.rotary[op.interleaved ? 1 : 0];
  return one_plan(context, op.operands(), "rotary",
                  [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                    pool->split(rows, threads, 1, [&](Index begin, Index end) {
                      for (Index row = begin; row < end; ++row) {
                        Index rest = row, at = 0, stride = turned;
                        for (std::size_t k = op.x.size() - 1; k-- > 0;) {
                          if (op.angles[k] != 1) at += rest % op.x[k] * stride;
                          rest /= op.x[k];
                          stride *= op.angles[k];
                        }
                        const float* const x = input<float>(arguments, 0) + row * depth;
                        float* const y = output<float>(arguments) + row * depth;
                        kernel(x, input<float>(arguments, 1) + at, input<float>(arguments, 2) + at, y, pairs, second);
                        std::copy(x + turned_depth, x + depth, y + turned_depth);
                      }
                    });
                  });
}

}  // namespace benanza::native
