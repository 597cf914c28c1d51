// SPDX-License-Identifier: Apache-2.0
// The gather and scatter families.
#include "check.hpp"
#include "context.hpp"
#include <benanza/plan/index_maps.hpp>

#include <limits>

namespace benanza::cuda {

namespace {

bool is_index(DataType type) { return type == DataType::i32 || type == DataType::i64; }

template <class Op>
IndexShape elements_shape(const Op& op) {
  const TensorShape strides = detail::row_major_strides(op.x);
  IndexShape shape{.rank = static_cast<int>(op.x.size()),
                   .axis = static_cast<int>(op.axis),
                   .axis_size = op.x[static_cast<std::size_t>(op.axis)],
                   .elements = element_count(op.indices),
                   .wide_index = op.index_type == DataType::i64};
  for (std::size_t k = 0; k < op.x.size(); ++k) {
    shape.sizes[k] = op.indices[k];
    shape.strides[k] = strides[k];
  }
  return shape;
}

template <class Op>
TupleShape tuple_shape(const Op& op, std::size_t batch_dims) {
  const std::int64_t tuple = op.indices.back(), tuples = element_count(op.indices) / std::max<std::int64_t>(tuple, 1);
  TupleShape shape{.tuple = static_cast<int>(tuple), .tuples = tuples, .wide_index = op.index_type == DataType::i64};
  std::int64_t batches = 1;
  for (std::size_t k = 0; k < batch_dims; ++k) batches *= op.x[k];
  for (std::size_t k = 0; k < static_cast<std::size_t>(tuple); ++k) shape.sizes[k] = op.x[batch_dims + k];
  for (std::size_t k = batch_dims + static_cast<std::size_t>(tuple); k < op.x.size(); ++k) shape.slice *= op.x[k];
  shape.tuples_a_batch = tuples / std::max<std::int64_t>(batches, 1);
  shape.batch_elements = element_count(op.x) / std::max<std::int64_t>(batches, 1);
  return shape;
}

/// Elements that are moved together to one location.
std::int64_t slice_of(const IndexShape&) { return 1; }
std::int64_t slice_of(const TupleShape& shape) { return shape.slice; }

/// Copies x unless it is updated in place, then scatters: with `none` the later update wins, `add` adds the updates.
template <class Op, class Shape, class Scatter, class Add>
Result scatter_plans(const Op& op, const Shape& shape, const Context& context, Scatter scatter, Add add) {
  const auto bytes = movable_bytes(op.type);
  const std::int64_t elements = element_count(op.x);
  if (!bytes || !is_index(op.index_type) || elements > std::numeric_limits<std::int32_t>::max())
    return unsupported(op.kind, op.type);
  const auto size = static_cast<std::size_t>(elements) * *bytes;
  const auto copy_x = [size, in_place = op.in_place, stream = context.stream()](const Arguments& a) {
    if (!in_place)
      check(cudaMemcpyAsync(a.outputs[0], a.inputs[0], size, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  };
  if (op.reduction == op::ScatterReduction::add && op.type == DataType::f32)
    return one_plan(
        context, op.operands(), "scatter:add",
        [=, stream = context.stream()](const Arguments& a) {
          copy_x(a);
          add(shape, a.inputs[1], a.inputs[2], a.outputs[0], stream);
        },
        1e-4);
  if (op.reduction != op::ScatterReduction::none) return unsupported(op.kind, op.type);
  const auto winners = static_cast<std::size_t>(elements / slice_of(shape)) * sizeof(std::int32_t);
  return one_plan(
      context, op.operands(), "scatter:last",
      [=, bytes = *bytes, stream = context.stream()](const Arguments& a) {
        copy_x(a);
        scatter(shape, bytes, a.inputs[1], a.inputs[2], static_cast<std::int32_t*>(a.workspace), a.outputs[0], stream);
      },
      0, winners);
}

}  // namespace

Result plans(const op::Gather& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes || !is_index(op.index_type)) return unsupported(op.kind, op.type);
  return one_plan(
      context, op.operands(), "gather:rows",
      [op, row = static_cast<std::size_t>(op.x[2]) * *bytes, stream = context.stream()](const Arguments& a) {
        gather_rows(a.inputs[0], a.inputs[1], op.index_type == DataType::i64, a.outputs[0], op.x[0], op.x[1],
                    op.indices, row, stream);
      },
      0);
}

Result plans(const op::GatherElements& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes || !is_index(op.index_type)) return unsupported(op.kind, op.type);
  return one_plan(
      context, op.operands(), "gather:elements",
      [shape = elements_shape(op), bytes = *bytes, stream = context.stream()](const Arguments& a) {
        gather_elements(shape, bytes, a.inputs[0], a.inputs[1], a.outputs[0], stream);
      },
      0);
}

Result plans(const op::GatherNd& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes || !is_index(op.index_type)) return unsupported(op.kind, op.type);
  return one_plan(
      context, op.operands(), "gather:tuples",
      [shape = tuple_shape(op, static_cast<std::size_t>(op.batch_dims)), bytes = *bytes, stream = context.stream()](
          const Arguments& a) { gather_tuples(shape, bytes, a.inputs[0], a.inputs[1], a.outputs[0], stream); },
      0);
}

Result plans(const op::ScatterElements& op, const Context& context) {
  return scatter_plans(op, elements_shape(op), context, scatter_elements, scatter_elements_add);
}

Result plans(const op::ScatterNd& op, const Context& context) {
  return scatter_plans(op, tuple_shape(op, 0), context, scatter_tuples, scatter_tuples_add);
}

}  // namespace benanza::cuda
