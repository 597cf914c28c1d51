// SPDX-License-Identifier: Apache-2.0
// ConvolutionShape: a convolution in terms of tiles. It is divided into parts that share no channel. The channels of x
// in a part are divided into blocks, over which it sums; those of y are divided into vectors. Each element of y belongs
// to one grid.
#pragma once

#include "convolution_grid.hpp"
#include <benanza/op/convolution.hpp>

#include <optional>
#include <vector>

namespace benanza::native {

/// The number of positions and vectors of the largest tile.
struct TileShape {
  Index positions = 1, vectors = 1;
};

struct ConvolutionShape {
  TileKind kind = TileKind::blocked;
  Index lanes = 1;
  Index images = 1, parts = 1;
  Index blocks = 1;                      ///< vectors of channels in a part of x, or channels if x is plain
  Index vectors = 1;                     ///< vectors of channels in a part of y; channels for `lines`, if y is plain
  Index inner = 1;                       ///< input channels of a tap
  Index x_channels = 1, y_channels = 1;  ///< channels of a part
  Index all_channels = 1;                ///< channels of y
  Index group_channels = 1;              ///< channels of y in a group
  bool transposed = false;
  Index kernel_taps = 1, kernel_columns = 1;
  detail::Window rows{}, columns{};     ///< windows that contain those of all grids
  Index row_step = 1, column_step = 1;  ///< distance in y between elements of a grid
  Index y_rows = 1, y_columns = 1;
  std::vector<Grid> grids{};

  /// Empty if the channels or the steps do not fit the kind.
  [[nodiscard]] static std::optional<ConvolutionShape> make(const op::Conv& op, TileKind kind, Index lanes);
  [[nodiscard]] static std::optional<ConvolutionShape> make(const op::ConvTranspose& op, TileKind kind, Index lanes);

  /// Whether x, or y, is in blocks of channels.
  [[nodiscard]] bool x_blocked() const { return kind != TileKind::planar && kind != TileKind::lines; }
  [[nodiscard]] bool y_blocked() const { return kind != TileKind::lines; }
  [[nodiscard]] Index x_unit() const { return x_blocked() ? lanes : 1; }
  [[nodiscard]] Index y_unit() const { return y_blocked() ? lanes : 1; }
  /// The number of taps in all grids.
  [[nodiscard]] Index taps() const { return grids.back().taps_before + grids.back().taps(); }
  /// Floats of the weights of one tap for `some` vectors of y.
  [[nodiscard]] Index tap_floats(Index some) const { return inner * some * y_unit(); }
  /// Floats of the weights of a part.
  [[nodiscard]] Index part_floats() const { return blocks * taps() * tap_floats(vectors); }
  [[nodiscard]] Index y_plane() const { return y_rows * y_columns; }

  /// Packs the weights by part, panel of `panel` vectors of y, grid, block, tap, inner channel, vector.
  void pack_weights(Index panel, const float* w, float* packed) const;

 private:
  /// Divides the channels into blocks and vectors; returns whether they fit the kind.
  [[nodiscard]] bool cut_channels(Index x_channels_of_all, Index groups);
  /// The offset of the weights of tap 0 for channel `to` of y and channel `from` of its group of x.
  [[nodiscard]] Index weights_at(Index to, Index from, Index depth) const;
};

}  // namespace benanza::native
