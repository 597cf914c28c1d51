// SPDX-License-Identifier: Apache-2.0
// Strided copies, padding and resizing.
#include "context.hpp"
#include <benanza/plan/index_maps.hpp>

#include <algorithm>
#include <numeric>

namespace benanza::cuda {

namespace {

struct Copy {
  std::size_t from = 0, to = 0;
  CopyShape shape{};
  std::size_t element_bytes = 4;
  bool transposes = false;
};

/// Merges adjacent elements that stay together into one of up to 16 bytes.
void widen(StridedMove& move, std::size_t& bytes) {
  auto& inner = move.dimensions.back();
  if (inner.x_stride != 1 || inner.y_stride != 1) return;
  std::int64_t common = std::gcd(std::gcd(inner.size, move.x_offset), move.y_offset);
  for (std::size_t k = 0; k + 1 < move.dimensions.size(); ++k)
    common = std::gcd(std::gcd(common, move.dimensions[k].x_stride), move.dimensions[k].y_stride);
  std::int64_t n = 1;
  while (bytes * static_cast<std::size_t>(n) < 16 && common % (2 * n) == 0) n *= 2;
  bytes *= static_cast<std::size_t>(n);
  inner.size /= n;
  move.x_offset /= n;
  move.y_offset /= n;
  for (std::size_t k = 0; k + 1 < move.dimensions.size(); ++k) {
    move.dimensions[k].x_stride /= n;
    move.dimensions[k].y_stride /= n;
  }
}

/// Empty if there are more dimensions than a launch takes.
std::optional<Copy> copy_of(StridedMove move, std::size_t bytes) {
  move.dimensions = folded(std::move(move.dimensions));
  widen(move, bytes);
  auto& dims = move.dimensions;
  Copy copy{.from = move.from, .to = move.to, .element_bytes = bytes};
  // If two dimensions are exchanged, the one that is contiguous in x becomes the second to last.
  constexpr std::int64_t worth_a_tile = 8;
  if (dims.size() > 1 && dims.back().y_stride == 1 && dims.back().x_stride > 1 && dims.back().size >= worth_a_tile) {
    const auto contiguous = std::find_if(dims.begin(), dims.end() - 1, [&](const StridedDimension& d) {
      return d.x_stride == 1 && d.size >= worth_a_tile;
    });
    copy.transposes = contiguous != dims.end() - 1;
    if (copy.transposes) std::rotate(contiguous, contiguous + 1, dims.end() - 1);
  }
  if (dims.size() > most_dims) return std::nullopt;
  copy.shape = {
      .rank = static_cast<int>(dims.size()), .x_offset = move.x_offset, .y_offset = move.y_offset, .elements = 1};
  for (std::size_t k = 0; k < dims.size(); ++k) {
    copy.shape.sizes[k] = dims[k].size;
    copy.shape.x_strides[k] = dims[k].x_stride;
    copy.shape.y_strides[k] = dims[k].y_stride;
    copy.shape.elements *= dims[k].size;
  }
  return copy;
}

Result copies(std::vector<StridedMove> moves, std::size_t bytes, const Operands& operands, const Context& context) {
  std::vector<Copy> all;
  for (auto& move : moves) {
    const auto copy = copy_of(std::move(move), bytes);
    if (!copy) return Unsupported{"more dimensions than a launch of backend cuda takes"};
    all.push_back(*copy);
  }
  if (all.empty()) return Unsupported{"nothing to move"};
  const char* name = all.front().transposes ? "copy:transpose" : "copy:strided";
  return one_plan(
      context, operands, name,
      [all, stream = context.stream()](const Arguments& a) {
        for (const auto& copy : all) {
          const auto launch = copy.transposes ? copy_transposed : copy_strided;
          launch(copy.shape, copy.element_bytes, a.inputs[copy.from], a.outputs[copy.to], stream);
        }
      },
      0);
}

template <class Op>
Result copies(const Op& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes) return unsupported(op.kind, op.type);
  return copies(strided_moves(op), *bytes, op.operands(), context);
}

/// Pieces and the whole in one launch: the dimensions after the axis stay together, in cells of up to 16 bytes.
template <bool join, class Op>
Result pieces(const Op& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes) return unsupported(op.kind, op.type);
  if (op.sizes.size() > most_pieces) return Unsupported{"more pieces than a launch of backend cuda takes"};
  std::int64_t common = 16;
  for (const auto size : op.sizes) common = std::gcd(common, size * op.inner * static_cast<std::int64_t>(*bytes));
  PieceShape shape{.pieces = static_cast<int>(op.sizes.size()), .rows = op.outer};
  std::int64_t end = 0;
  for (std::size_t i = 0; i < op.sizes.size(); ++i)
    shape.ends[i] = end += op.sizes[i] * op.inner * static_cast<std::int64_t>(*bytes) / common;
  return one_plan(
      context, op.operands(), join ? "copy:join" : "copy:part",
      [shape, cell = static_cast<std::size_t>(common), stream = context.stream()](const Arguments& a) {
        PieceBuffers buffers{.whole = join ? a.outputs[0] : const_cast<void*>(a.inputs[0])};
        for (int i = 0; i < shape.pieces; ++i) {
          const auto k = static_cast<std::size_t>(i);
          buffers.piece[i] = join ? const_cast<void*>(a.inputs[k]) : a.outputs[k];
        }
        (join ? join_pieces : part_pieces)(shape, cell, buffers, stream);
      },
      0);
}

/// The tables of all axes in a single block of device memory, positions first, then weights.
struct Tables {
  ResizeShape shape{};
  std::shared_ptr<const void> memory{};
};

Tables tables_of(const Context& context, const TensorShape& x, const TensorShape& y,
                 const std::vector<ResizeTaps>& axes) {
  Tables result;
  result.shape = {.rank = static_cast<int>(y.size()), .elements = element_count(y)};
  std::vector<std::int32_t> places;
  std::vector<float> weights;
  for (const auto& axis : axes) {
    places.insert(places.end(), axis.at.begin(), axis.at.end());
    weights.insert(weights.end(), axis.weight.begin(), axis.weight.end());
  }
  weights.resize(places.size(), 1.0F);
  std::vector<std::byte> whole(places.size() * (sizeof(std::int32_t) + sizeof(float)));
  std::copy_n(reinterpret_cast<const std::byte*>(places.data()), places.size() * sizeof(std::int32_t), whole.data());
  std::copy_n(reinterpret_cast<const std::byte*>(weights.data()), weights.size() * sizeof(float),
              whole.data() + places.size() * sizeof(std::int32_t));
  result.memory = device_table(context, whole.data(), whole.size());
  const auto* at = static_cast<const std::int32_t*>(result.memory.get());
  const auto* weight = reinterpret_cast<const float*>(at + places.size());
  const TensorShape strides = detail::row_major_strides(x);
  for (std::size_t k = 0; k < y.size(); ++k) {
    result.shape.sizes[k] = y[k];
    result.shape.x_strides[k] = strides[k];
    result.shape.taps[k] = static_cast<int>(axes[k].taps);
    result.shape.at[k] = at;
    result.shape.weight[k] = weight;
    at += axes[k].at.size();
    weight += axes[k].at.size();
  }
  return result;
}

}  // namespace

Result plans(const op::Transpose& op, const Context& context) { return copies(op, context); }
Result plans(const op::Slice& op, const Context& context) { return copies(op, context); }
Result plans(const op::Concat& op, const Context& context) {
  return op.in_place ? copies(op, context) : pieces<true>(op, context);
}
Result plans(const op::Split& op, const Context& context) { return pieces<false>(op, context); }
Result plans(const op::Expand& op, const Context& context) { return copies(op, context); }
Result plans(const op::Tile& op, const Context& context) { return copies(op, context); }

Result plans(const op::Pad& op, const Context& context) {
  const auto bytes = movable_bytes(op.type);
  if (!bytes) return unsupported(op.kind, op.type);
  std::vector<ResizeTaps> axes(op.x.size());
  for (std::size_t k = 0; k < axes.size(); ++k)
    for (std::int64_t i = 0; i < op.y()[k]; ++i)
      axes[k].at.push_back(static_cast<std::int32_t>(padded_source(i, op.begins[k], op.x[k], op.mode)));
  return one_plan(
      context, op.operands(), "pad",
      [tables = tables_of(context, op.x, op.y(), axes), bytes = *bytes, stream = context.stream()](const Arguments& a) {
        pad(tables.shape, bytes, a.inputs[0], a.outputs[0], stream);
      },
      0);
}

Result plans(const op::Resize& op, const Context& context) {
  if (!op.post.empty()) return Unsupported{"no epilogue of a Resize in backend cuda"};
  const auto element = element_of(op.type);
  if (!element) return unsupported(op.kind, op.type);
  std::vector<ResizeTaps> axes;
  for (std::size_t k = 0; k < op.x.size(); ++k) axes.push_back(resize_taps(op, k));
  return one_plan(
      context, op.operands(), "resize",
      [tables = tables_of(context, op.x, op.y, axes), element = *element, stream = context.stream()](
          const Arguments& a) { resize(tables.shape, element, a.inputs[0], a.outputs[0], stream); },
      tolerance_of(*element));
}

}  // namespace benanza::cuda
