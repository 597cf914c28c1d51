// SPDX-License-Identifier: Apache-2.0
#include "convolution_shape.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

Index vectors_of(Index channels, Index lanes) { return (channels + lanes - 1) / lanes; }

}  // namespace

bool ConvolutionShape::cut_channels(Index x_channels_of_all, Index groups) {
  const Index from = x_channels_of_all / groups, to = group_channels;
  parts = groups;
  x_channels = from;
  y_channels = to;
  const bool whole_vectors = groups == 1 || to % lanes == 0;
  switch (kind) {
    case TileKind::blocked:
      blocks = vectors_of(from, lanes);
      vectors = vectors_of(to, lanes);
      inner = lanes;
      return whole_vectors && (groups == 1 || from % lanes == 0);
    case TileKind::planar:
      blocks = from;
      vectors = vectors_of(to, lanes);
      return whole_vectors;
    case TileKind::lines:
      blocks = from;
      vectors = to;
      return column_step == 1;  // a vector is stored as a whole
    case TileKind::depthwise:
    case TileKind::grouped:
      parts = vectors_of(x_channels_of_all, lanes);
      x_channels = y_channels = lanes;
      inner = from;
      return from == to && (from == 1) == (kind == TileKind::depthwise) && from < lanes && lanes % from == 0;
    case TileKind::rows:
    case TileKind::rows_4_bits: break;
  }
  return false;
}

std::optional<ConvolutionShape> ConvolutionShape::make(const op::Conv& op, TileKind kind, Index lanes) {
  ConvolutionShape shape{.kind = kind,
                         .lanes = lanes,
                         .images = op.x[0],
                         .all_channels = op.w[0],
                         .group_channels = op.w[0] / op.group,
                         .kernel_taps = op.w[2] * op.w[3],
                         .kernel_columns = op.w[3],
                         .rows = detail::window(op.x, 0, op.w[2], op.pads, op.strides, op.dilations),
                         .columns = detail::window(op.x, 1, op.w[3], op.pads, op.strides, op.dilations)};
  for (auto* axis : {&shape.rows, &shape.columns})
    if (axis->kernel == 1) axis->dilation = 1;
  // If each window reads a single element of the plane, the plane is one long row.
  auto &h = shape.rows, &w = shape.columns;
  if (shape.kernel_taps == 1 && h.outputs() == h.size && w.outputs() == w.size && h.pad_begin == 0 &&
      w.pad_begin == 0) {
    w.size *= h.size;
    h.size = 1;
  }
  shape.y_rows = h.outputs();
  shape.y_columns = w.outputs();
  shape.grids = {{.rows = GridAxis(h), .columns = GridAxis(w)}};
  return shape.cut_channels(op.x[1], op.group) ? std::optional(shape) : std::nullopt;
}

std::optional<ConvolutionShape> ConvolutionShape::make(const op::ConvTranspose& op, TileKind kind, Index lanes) {
  const TensorShape y = op.y();
  const auto reverse = [&](std::size_t axis) {
    return detail::window(y, axis, op.w[axis + 2], op.pads, op.strides, op.dilations);
  };
  const auto rows = transposed_grids(reverse(0), op.x[2]), columns = transposed_grids(reverse(1), op.x[3]);
  ConvolutionShape shape{.kind = kind,
                         .lanes = lanes,
                         .images = op.x[0],
                         .all_channels = y[1],
                         .group_channels = op.w[1],
                         .transposed = true,
                         .kernel_taps = op.w[2] * op.w[3],
                         .kernel_columns = op.w[3],
                         .rows = window_around(rows),
                         .columns = window_around(columns),
                         .row_step = reverse(0).stride,
                         .column_step = reverse(1).stride,
                         .y_rows = y[2],
                         .y_columns = y[3]};
  for (const auto& row : rows)
    for (const auto& column : columns)
      shape.grids.push_back({.rows = row, .columns = column, .taps_before = shape.grids.empty() ? 0 : shape.taps()});
  return shape.cut_channels(op.x[1], op.group) ? std::optional(shape) : std::nullopt;
}

Index ConvolutionShape::weights_at(Index to, Index from, Index depth) const {
  if (!transposed) return (to * depth + from) * kernel_taps;
  return ((to / group_channels * depth + from) * group_channels + to % group_channels) * kernel_taps;
}

void ConvolutionShape::pack_weights(Index panel, const float* w, float* packed) const {
  const bool by_vector = kind == TileKind::depthwise || kind == TileKind::grouped;
  const Index depth = by_vector ? inner : x_channels;  // input channels of a group
  const Index channels = y_channels, unit = y_unit();
  const auto pack_tap = [&](Index part, Index first, Index some, Index block, Index tap) {
    for (Index c = 0; c < inner; ++c)
      for (Index lane = 0; lane < some * unit; ++lane) {
        const Index to = first * unit + lane, from = block * inner + c;
        const bool there = to < channels && part * channels + to < all_channels && from < depth;
        *packed++ = there ? w[weights_at(part * channels + to, from, depth) + tap] : 0.0F;
      }
  };
  for (Index part = 0; part < parts; ++part)
    for (Index first = 0; first < vectors; first += panel)
      for (const auto& [rows_of, columns_of, taps_before] : grids)
        for (Index block = 0; block < blocks; ++block)
          for (Index row = 0; row < rows_of.window.kernel; ++row)
            for (Index column = 0; column < columns_of.window.kernel; ++column)
              pack_tap(part, first, std::min(panel, vectors - first), block,
                       (rows_of.tap + row * rows_of.tap_step) * kernel_columns + columns_of.tap +
                           column * columns_of.tap_step);
}

}  // namespace benanza::native
