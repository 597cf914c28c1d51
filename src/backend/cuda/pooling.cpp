// SPDX-License-Identifier: Apache-2.0
// Pooling: for types and windows that cuDNN's calls lack, and as another candidate. A window that covers the whole
// plane is a reduction.
#include "context.hpp"
#include <benanza/base/detail/window.hpp>

namespace benanza::cuda {

namespace {

Result whole_planes(const op::Pool& op, Element element, const Context& context) {
  const std::int64_t planes = op.x[0] * op.x[1];
  ReduceShape shape{.outputs = planes, .length = element_count(op.x) / planes};
  shape.kept_sizes[0] = planes;
  shape.kept_strides[0] = shape.length;
  shape.reduced_sizes[0] = shape.length;
  shape.reduced_strides[0] = 1;
  const Reduction reduction = op.mode == op::PoolMode::max ? Reduction::max : Reduction::mean;
  return one_plan(
      context, op.operands(), "pool:reduce",
      [shape, element, reduction, stream = context.stream()](const Arguments& a) {
        reduce(reduction, shape, element, a.inputs[0], a.outputs[0], a.workspace, stream);
      },
      tolerance_of(element), reduce_workspace(reduction, shape));
}

}  // namespace

Result plans(const op::Pool& op, const Context& context) {
  const auto element = quantized_element_of(op.type);
  const std::size_t spatial = op.x.size() - 2;
  if (!element || op.mode == op::PoolMode::lp || op.indices || !op.ceil_pads.empty() || spatial > 3)
    return unsupported(op.kind, op.type);
  if (op.pads.empty() && TensorShape(std::span(op.x.begin() + 2, op.x.end())) == op.kernel)
    return whole_planes(op, *element, context);
  PoolShape shape{
      .elements = element_count(op.y()), .average = op.mode == op::PoolMode::average, .include_pad = op.include_pad};
  for (std::size_t i = 0; i < spatial; ++i) {
    const detail::Window window = detail::window(op.x, i, op.kernel[i], op.pads, op.strides, op.dilations);
    const std::size_t axis = 3 - spatial + i;
    shape.sizes[axis] = window.size;
    shape.outputs[axis] = window.outputs();
    shape.kernel[axis] = static_cast<int>(window.kernel);
    shape.pads[axis] = static_cast<int>(window.pad_begin);
    shape.strides[axis] = static_cast<int>(window.stride);
    shape.dilations[axis] = static_cast<int>(window.dilation);
  }
  return one_plan(
      context, op.operands(), "pool",
      [shape, element = *element, stream = context.stream()](const Arguments& a) {
        pool(shape, element, a.inputs[0], a.outputs[0], stream);
      },
      tolerance_of(*element));
}

}  // namespace benanza::cuda
