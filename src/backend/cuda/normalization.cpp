// SPDX-License-Identifier: Apache-2.0
// Normalisations, softmax and reductions.
#include "context.hpp"
#include <benanza/plan/index_maps.hpp>

#include <algorithm>

namespace benanza::cuda {

namespace {

std::optional<Reduction> reduction_of(op::ReduceFn fn) {
  switch (fn) {
    case op::ReduceFn::mean: return Reduction::mean;
    case op::ReduceFn::sum: return Reduction::sum;
    case op::ReduceFn::max: return Reduction::max;
    case op::ReduceFn::min: return Reduction::min;
    case op::ReduceFn::prod: return Reduction::prod;
    case op::ReduceFn::l1: return Reduction::l1;
    case op::ReduceFn::l2: return Reduction::l2;
    case op::ReduceFn::sum_square: return Reduction::sum_square;
    case op::ReduceFn::log_sum: return Reduction::log_sum;
    case op::ReduceFn::log_sum_exp: return Reduction::log_sum_exp;
    default: return std::nullopt;
  }
}

}  // namespace

Result plans(const op::Softmax& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  if (op.x[2] > 1)
    return one_plan(
        context, op.operands(), "softmax:columns",
        [op, element = *element, stream = context.stream()](const Arguments& a) {
          softmax_columns(op.x[0], op.x[1], op.x[2], op.log, element, a.inputs[0], a.outputs[0], stream);
        },
        tolerance_of(*element));
  return one_plan(
      context, op.operands(), "softmax:rows",
      [op, element = *element, stream = context.stream()](const Arguments& a) {
        run_rows(op.log ? RowFunction::log_softmax : RowFunction::softmax, {.rows = op.x[0], .length = op.x[1]},
                 element, {.x = a.inputs[0], .y = a.outputs[0]}, stream);
      },
      tolerance_of(*element));
}

Result plans(const op::LayerNorm& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  const bool adds = op.residual != op::Residual::none;
  return one_plan(
      context, op.operands(), adds ? "norm:residual" : "norm:rows",
      [op, adds, element = *element, stream = context.stream()](const Arguments& a) {
        const std::size_t first = op.first_weight();
        run_rows(op.rms ? RowFunction::rms_norm : RowFunction::layer_norm,
                 {.rows = op.x[0], .length = op.x[1], .scale_count = op.x[1], .epsilon = epsilon}, element,
                 {.x = a.inputs[0],
                  .residual = adds ? a.inputs[1] : nullptr,
                  .x_bias = op.x_bias ? a.inputs[2] : nullptr,
                  .scale = op.scale ? a.inputs[first] : nullptr,
                  .bias = op.bias ? a.inputs[op.scale ? first + 1 : first] : nullptr,
                  .y = a.outputs[0],
                  .sum = op.residual == op::Residual::kept ? a.outputs[1] : nullptr},
                 stream);
      },
      tolerance_of(*element));
}

Result plans(const op::GroupNorm& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  const RowShape shape{.rows = op.x[0] * op.groups,
                       .length = op.x[1] / op.groups * op.x[2],
                       .scale_length = op.x[2],
                       .scale_count = op.x[1],
                       .epsilon = epsilon};
  return one_plan(
      context, op.operands(), "norm:groups",
      [shape, element = *element, stream = context.stream()](const Arguments& a) {
        run_rows(RowFunction::layer_norm, shape, element,
                 {.x = a.inputs[0], .scale = a.inputs[1], .bias = a.inputs[2], .y = a.outputs[0]}, stream);
      },
      tolerance_of(*element));
}

Result plans(const op::Lrn& op, const Context& context) {
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  // ONNX LRN: floor((size - 1) / 2) channels before, the rest after; alpha is 1e-4 and bias 1 in checks.
  const int before = static_cast<int>((op.size - 1) / 2), behind = static_cast<int>(op.size - 1) - before;
  return one_plan(
      context, op.operands(), "lrn",
      [=, element = *element, alpha = 1e-4F / static_cast<float>(op.size), beta = static_cast<float>(op.beta),
       stream = context.stream()](const Arguments& a) {
        lrn(op.x[0], op.x[1], op.x[2], before, behind, alpha, beta, 1, element, a.inputs[0], a.outputs[0], stream);
      },
      tolerance_of(*element));
}

Result plans(const op::Reduce& op, const Context& context) {
  const auto element = quantized_element_of(op.type);
  const auto reduction = reduction_of(op.fn);
  const bool fits = !is_8_bit(op.type) || reduction == Reduction::mean || reduction == Reduction::max ||
                    reduction == Reduction::min;  // sums of integers would wrap around
  if (!element || !reduction || !fits) return unsupported(op.kind, op.type);
  const TensorShape strides = detail::row_major_strides(op.x);
  const auto is_reduced = [&](std::size_t k) {
    return std::find(op.axes.begin(), op.axes.end(), static_cast<std::int64_t>(k)) != op.axes.end();
  };
  ReduceShape shape{.kept_rank = 0, .reduced_rank = 0};
  std::optional<bool> before;  // adjacent dimensions of the same kind are merged
  for (std::size_t k = 0; k < op.x.size(); ++k) {
    if (op.x[k] == 1) continue;
    const bool reduced = is_reduced(k);
    int& rank = reduced ? shape.reduced_rank : shape.kept_rank;
    auto& sizes = reduced ? shape.reduced_sizes : shape.kept_sizes;
    if (before != reduced) sizes[rank++] = 1;
    sizes[rank - 1] *= op.x[k];
    (reduced ? shape.reduced_strides : shape.kept_strides)[rank - 1] = strides[k];
    (reduced ? shape.length : shape.outputs) *= op.x[k];
    before = reduced;
  }
  shape.kept_rank = std::max(shape.kept_rank, 1);  // a dimension of one element if all have one
  shape.reduced_rank = std::max(shape.reduced_rank, 1);
  return one_plan(
      context, op.operands(), "reduce",
      [shape, reduction = *reduction, element = *element, stream = context.stream()](const Arguments& a) {
        reduce(reduction, shape, element, a.inputs[0], a.outputs[0], a.workspace, stream);
      },
      tolerance_of(*element), reduce_workspace(*reduction, shape));
}

}  // namespace benanza::cuda
