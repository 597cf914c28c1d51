// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings.
#include "context.hpp"

namespace benanza::cuda {

Result plans(const op::Rotary& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  if (op.turned != 0) return Unsupported{"no embedding that turns a part of each row in backend cuda"};
  RotaryShape shape{.rank = static_cast<int>(op.x.size()) - 1,
                    .rows = element_count(op.x) / op.depth(),
                    .depth = op.depth(),
                    .each_element = op.angles.back() == op.depth(),
                    .interleaved = op.interleaved};
  std::int64_t stride = op.angles.back();
  for (std::size_t k = op.x.size() - 1; k-- > 0;) {
    shape.sizes[k] = op.x[k];
    shape.strides[k] = op.angles[k] == 1 ? 0 : stride;
    stride *= op.angles[k];
  }
  return one_plan(
      context, op.operands(), "rotary",
      [shape, element = *element, stream = context.stream()](const Arguments& a) {
        rotary(shape, element, a.inputs[0], a.inputs[1], a.inputs[2], a.outputs[0], stream);
      },
      tolerance_of(*element));
}

}  // namespace benanza::cuda
