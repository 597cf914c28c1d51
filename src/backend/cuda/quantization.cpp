// SPDX-License-Identifier: Apache-2.0
// Conversions of an element's type, with and without scales.
#include "context.hpp"

namespace benanza::cuda {

namespace {

/// Shape of x as Quantize and Dequantize define it: outer channels inner.
QuantizeShape shape_of(const TensorShape& x) {
  const bool one = x[0] == 1 && x[2] == 1;
  return {.elements = element_count(x), .channels = one ? 1 : x[1], .inner = one ? x[1] : x[2]};
}
bool is_8_bits(const std::optional<Element>& element, DataType type) { return element && bits(type) == 8; }
/// One scale for each element of a vector is the same as one for each channel.
template <class Op>
bool is_by_blocks(const Op& op) {
  return op.block > 0 && !(op.block == 1 && op.x[0] == 1 && op.x[2] == 1);
}
bool is_wide(const std::optional<Element>& element, DataType type) { return element && bits(type) > 8; }

}  // namespace

Result plans(const op::Cast& op, const Context& context) {
  const auto from = quantized_element_of(op.type), to = element_of(op.to);  // casts to integers truncate and wrap
  if (!from || !to) return unsupported(op.kind, op.type);
  return one_plan(
      context, op.operands(), "cast",
      [from = *from, to = *to, elements = element_count(op.x), stream = context.stream()](const Arguments& a) {
        cast(from, to, elements, a.inputs[0], a.outputs[0], stream);
      },
      tolerance_of(*to));
}

Result plans(const op::Quantize& op, const Context& context) {
  const auto from = element_of(op.type), to = quantized_element_of(op.to);
  if (!is_wide(from, op.type) || !is_8_bits(to, op.to)) return unsupported(op.kind, op.type);
  if (is_by_blocks(op)) return Unsupported{"no Quantize by blocks in backend cuda"};
  if (op.dynamic)
    return one_plan(
        context, op.operands(), "quantize:dynamic",
        [elements = element_count(op.x), from = *from, to = *to, stream = context.stream()](const Arguments& a) {
          quantize_dynamic(elements, from, to, a.inputs[0], a.outputs[1], a.outputs[2], a.outputs[0],
                           static_cast<float*>(a.workspace), stream);
        },
        tolerance_of(*to), 2 * most_parts * sizeof(float));
  return one_plan(
      context, op.operands(), "quantize",
      [shape = shape_of(op.x), from = *from, to = *to, stream = context.stream()](const Arguments& a) {
        quantize(shape, from, to, a.inputs[0], a.inputs[1], a.inputs[2], a.outputs[0], stream);
      },
      tolerance_of(*to));
}

Result plans(const op::Dequantize& op, const Context& context) {
  const auto from = quantized_element_of(op.type), to = element_of(op.to);
  if (!is_8_bits(from, op.type) || !is_wide(to, op.to)) return unsupported(op.kind, op.type);
  if (is_by_blocks(op)) return Unsupported{"no Dequantize by blocks in backend cuda"};
  return one_plan(
      context, op.operands(), "dequantize",
      [shape = shape_of(op.x), from = *from, to = *to, stream = context.stream()](const Arguments& a) {
        dequantize(shape, from, to, a.inputs[0], a.inputs[1], a.inputs[2], a.outputs[0], stream);
      },
      tolerance_of(*to));
}

}  // namespace benanza::cuda
