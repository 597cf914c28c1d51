// SPDX-License-Identifier: Apache-2.0
// ConvolutionShape: a convolution as tiles see it. It falls into parts that share no channel; a part sums over blocks
// of its input channels and has some vectors of output channels.
#pragma once

#include "kernels.hpp"
#include <benanza/detail/window.hpp>
#include <benanza/op/conv.hpp>
#include <benanza/plan/thread_pool.hpp>

#include <optional>
#include <vector>

namespace benanza::native {

struct ConvolutionShape {
  TileKind kind = TileKind::blocked;
  Index lanes = 1;
  Index images = 1, parts = 1;
  Index blocks = 1;                      ///< vectors of channels in a part of x, or channels where x is plain
  Index vectors = 1;                     ///< vectors of channels in a part of y; channels of `lines`, where y is plain
  Index inner = 1;                       ///< input channels of a tap
  Index x_channels = 1, y_channels = 1;  ///< channels of a part
  Index all_channels = 1;                ///< channels of y
  detail::Window rows{}, columns{};

  /// Nothing where the channels do not suit the kind.
  [[nodiscard]] static std::optional<ConvolutionShape> make(const op::Conv& op, TileKind kind, Index lanes);

  /// Whether x, or y, lies in blocks of channels.
  [[nodiscard]] bool x_blocked() const { return kind != TileKind::planar && kind != TileKind::lines; }
  [[nodiscard]] bool y_blocked() const { return kind != TileKind::lines; }
  [[nodiscard]] Index x_unit() const { return x_blocked() ? lanes : 1; }
  [[nodiscard]] Index y_unit() const { return y_blocked() ? lanes : 1; }
  [[nodiscard]] Index taps() const { return rows.kernel * columns.kernel; }
  /// Floats of the weights of one tap for so many vectors of y.
  [[nodiscard]] Index tap_floats(Index some) const { return inner * some * y_unit(); }
  /// Floats of the weights of a part.
  [[nodiscard]] Index part_floats() const { return blocks * taps() * tap_floats(vectors); }
  [[nodiscard]] Index y_plane() const { return rows.outputs() * columns.outputs(); }

  /// Weights M C/group H W to part, panel of `panel` vectors of y, block, tap, inner channel, vector.
  void pack_weights(Index panel, const float* w, float* packed) const;
  /// Input rows that row `row` of y sees.
  [[nodiscard]] Range window_rows(Index row) const;
  /// Taps that some of the columns [begin, end) of y see.
  [[nodiscard]] Range column_taps(Index begin, Index end) const;
};

}  // namespace benanza::native
