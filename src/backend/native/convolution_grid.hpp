// SPDX-License-Identifier: Apache-2.0
// Grid: equally spaced rows and columns of y, and the ordinary convolution that computes them from x. A convolution is
// one grid. A transposed one of stride s is divided into s grids along each axis: the elements of each are s apart, and
// each has its own taps of the kernel.
#pragma once

#include "kernels.hpp"
#include "plan/thread_pool.hpp"
#include <benanza/base/detail/window.hpp>

#include <vector>

namespace benanza::native {

/// A grid along one axis.
struct GridAxis {
  detail::Window window{};      ///< over x; it has no taps if the grid reads no element of x
  Index outputs = 0;            ///< elements of the grid
  Index first = 0;              ///< the position of its first element in y
  Index tap = 0, tap_step = 1;  ///< the first tap in the kernel, and the step to the next

  /// The single grid of a convolution.
  explicit GridAxis(const detail::Window& of_convolution) : window(of_convolution), outputs(window.outputs()) {}
  /// Grid `first_output` of a transposed convolution. Its taps are in the order of the elements of x.
  /// \param reverse  the convolution that maps y to x
  GridAxis(const detail::Window& reverse, Index x_size, Index first_output);

  /// Taps that read x in the windows of elements [begin, end).
  [[nodiscard]] Range taps(Index begin, Index end) const;
};

/// All grids of a transposed convolution along one axis, the largest first. `reverse` is as above.
[[nodiscard]] std::vector<GridAxis> transposed_grids(const detail::Window& reverse, Index x_size);
/// The window of stride 1 that contains the windows of all grids.
[[nodiscard]] detail::Window window_around(const std::vector<GridAxis>& grids);

struct Grid {
  GridAxis rows, columns;
  Index taps_before = 0;  ///< the number of taps in the grids before this one

  [[nodiscard]] Index taps() const { return rows.window.kernel * columns.window.kernel; }
};

}  // namespace benanza::native
