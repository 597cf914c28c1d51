// SPDX-License-Identifier: Apache-2.0
// StridedCopy: y[sum of i_k * y_stride_k] = x[sum of i_k * x_stride_k], which covers Transpose, Slice, Split, Concat,
// Expand and Tile. Dimensions are ordered by the result's strides and folded; the remaining ones decide the kernel:
// runs, repeated elements, blocked transposes or strided elements. Innermost elements that stay together become one
// element of up to 16 bytes.
#pragma once

#include "context.hpp"
#include <benanza/plan/index_maps.hpp>

#include <string>
#include <vector>

namespace benanza::native {

class StridedCopy {
 public:
  using Dimension = StridedDimension;
  /// The result's strides are positive and do not overlap.
  StridedCopy(std::vector<Dimension> dimensions, std::size_t element_bytes, Index x_offset = 0, Index y_offset = 0);

  /// "runs", "fill", "transpose" or "strided".
  [[nodiscard]] std::string kernel() const;
  /// Executes share `thread` of `threads`.
  void run(const Kernels& kernels, const void* x, void* y, int threads, int thread, bool stream) const;
  [[nodiscard]] Index bytes() const;

 private:
  enum class Kind : std::uint8_t { runs, fill, transpose, strided };
  void tiles(const Kernels& kernels, const std::byte* x, std::byte* y, int threads, int thread, bool stream) const;
  void rows(const Kernels& kernels, const std::byte* x, std::byte* y, int threads, int thread, bool stream) const;

  std::vector<Dimension>
      dimensions_{};  ///< outermost first; for a transpose the last two are (x-contiguous, y-contiguous)
  std::size_t bytes_;
  std::size_t size_class_ = 0;
  Index x_offset_, y_offset_;
  Kind kind_ = Kind::runs;
};

}  // namespace benanza::native
