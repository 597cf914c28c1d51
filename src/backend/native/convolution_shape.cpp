// SPDX-License-Identifier: Apache-2.0
#include "convolution_shape.hpp"

#include <algorithm>

namespace benanza::native {

namespace {

Index vectors_of(Index channels, Index lanes) { return (channels + lanes - 1) / lanes; }

/// Steps to the first place that is not below `limit`: least i >= 0 with at + i * step >= limit.
Index steps_to(Index limit, Index at, Index step) { return at >= limit ? 0 : (limit - at + step - 1) / step; }

/// Taps of a window that begins at `first` (for one output) or reaches from `first` to `last` (for several).
Range taps_inside(const detail::Window& window, Index first, Index last) {
  const Index begin = std::min(steps_to(0, last, window.dilation), window.kernel),
              end = std::min(steps_to(window.size, first, window.dilation), window.kernel);
  return {begin, std::max(begin, end)};
}

}  // namespace

std::optional<ConvolutionShape> ConvolutionShape::make(const op::Conv& op, TileKind kind, Index lanes) {
  const Index from = op.x[1] / op.group, to = op.w[0] / op.group;
  ConvolutionShape shape{.kind = kind,
                         .lanes = lanes,
                         .images = op.x[0],
                         .parts = op.group,
                         .x_channels = from,
                         .y_channels = to,
                         .all_channels = op.w[0],
                         .rows = detail::window(op.x, 0, op.w[2], op.pads, op.strides, op.dilations),
                         .columns = detail::window(op.x, 1, op.w[3], op.pads, op.strides, op.dilations)};
  for (auto* axis : {&shape.rows, &shape.columns})
    if (axis->kernel == 1) axis->dilation = 1;
  // A plane that each window sees one element of is one long row.
  auto &h = shape.rows, &w = shape.columns;
  if (shape.taps() == 1 && h.outputs() == h.size && w.outputs() == w.size && h.pad_begin == 0 && w.pad_begin == 0) {
    w.size *= h.size;
    h.size = 1;
  }
  const bool whole_vectors = op.group == 1 || to % lanes == 0;
  switch (kind) {
    case TileKind::blocked:
      if (!whole_vectors || (op.group > 1 && from % lanes != 0)) return std::nullopt;
      shape.blocks = vectors_of(from, lanes);
      shape.vectors = vectors_of(to, lanes);
      shape.inner = lanes;
      return shape;
    case TileKind::planar:
      if (!whole_vectors) return std::nullopt;
      shape.blocks = from;
      shape.vectors = vectors_of(to, lanes);
      return shape;
    case TileKind::lines:
      shape.blocks = from;
      shape.vectors = to;
      return shape;
    case TileKind::depthwise:
    case TileKind::grouped:
      if (from != to || (from == 1) != (kind == TileKind::depthwise) || from >= lanes || lanes % from != 0)
        return std::nullopt;
      shape.parts = vectors_of(op.x[1], lanes);
      shape.x_channels = shape.y_channels = lanes;
      shape.inner = from;
      return shape;
    case TileKind::rows:
    case TileKind::rows_4_bits: break;
  }
  return std::nullopt;
}

void ConvolutionShape::pack_weights(Index panel, const float* w, float* packed) const {
  const bool by_vector = kind == TileKind::depthwise || kind == TileKind::grouped;
  const Index depth = by_vector ? inner : x_channels;  // input channels of w
  const Index channels = y_channels, unit = y_unit();
  for (Index part = 0; part < parts; ++part)
    for (Index first = 0; first < vectors; first += panel) {
      const Index some = std::min(panel, vectors - first);
      for (Index block = 0; block < blocks; ++block)
        for (Index tap = 0; tap < taps(); ++tap)
          for (Index c = 0; c < inner; ++c)
            for (Index lane = 0; lane < some * unit; ++lane) {
              const Index to = first * unit + lane, from = block * inner + c;
              const bool there = to < channels && part * channels + to < all_channels && from < depth;
              *packed++ = there ? w[((part * channels + to) * depth + from) * taps() + tap] : 0.0F;
            }
    }
}

Range ConvolutionShape::window_rows(Index row) const {
  const Index at = row * rows.stride - rows.pad_begin;
  return taps_inside(rows, at, at);
}

Range ConvolutionShape::column_taps(Index begin, Index end) const {
  return taps_inside(columns, begin * columns.stride - columns.pad_begin,
                     (end - 1) * columns.stride - columns.pad_begin);
}

}  // namespace benanza::native
