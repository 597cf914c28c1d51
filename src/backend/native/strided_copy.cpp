// SPDX-License-Identifier: Apache-2.0
#include "strided_copy.hpp"

#include <benanza/base/detail/saturated.hpp>

#include <algorithm>

namespace benanza::native {

namespace {

/// Tiles of a transpose: two of them fit the first-level cache, with rows of whole cache lines.
Index tile_edge(std::size_t element_bytes) {
  return element_bytes == 1 ? 128 : element_bytes == 2 ? 64 : element_bytes == 4 ? 64 : 32;
}

}  // namespace

StridedCopy::StridedCopy(std::vector<Dimension> dimensions, std::size_t element_bytes, Index x_offset, Index y_offset)
    : dimensions_(folded(std::move(dimensions))), bytes_(element_bytes), x_offset_(x_offset), y_offset_(y_offset) {
  // A short innermost run becomes one wider element if everything else is a multiple of it.
  const Dimension inner = dimensions_.back();
  const auto divides = [&](Index n) {
    return x_offset_ % n == 0 && y_offset_ % n == 0 &&
           std::all_of(dimensions_.begin(), dimensions_.end() - 1,
                       [&](const Dimension& d) { return d.x_stride % n == 0 && d.y_stride % n == 0; });
  };
  if (dimensions_.size() > 1 && inner.x_stride == 1 && inner.y_stride == 1 &&
      size_class(bytes_ * static_cast<std::size_t>(inner.size)) && divides(inner.size)) {
    const Index n = inner.size;
    bytes_ *= static_cast<std::size_t>(n);
    x_offset_ /= n;
    y_offset_ /= n;
    dimensions_.pop_back();
    for (auto& d : dimensions_) {
      d.x_stride /= n;
      d.y_stride /= n;
    }
  }
  size_class_ = *size_class(bytes_);

  const Dimension& last = dimensions_.back();
  if (last.y_stride == 1 && last.x_stride == 1) {
    kind_ = Kind::runs;
  } else if (last.y_stride == 1 && last.x_stride == 0) {
    kind_ = Kind::fill;
  } else {
    kind_ = Kind::strided;
    const auto contiguous =
        std::find_if(dimensions_.begin(), dimensions_.end() - 1, [](const Dimension& d) { return d.x_stride == 1; });
    if (last.y_stride == 1 && last.x_stride > 1 && contiguous != dimensions_.end() - 1) {
      kind_ = Kind::transpose;
      std::rotate(contiguous, contiguous + 1, dimensions_.end() - 1);  // second to last
    }
  }
}

std::string StridedCopy::kernel() const {
  switch (kind_) {
    case Kind::runs: return "runs";
    case Kind::fill: return "fill";
    case Kind::transpose: return "transpose";
    default: return "strided";
  }
}

Index StridedCopy::bytes() const {
  Index count = static_cast<Index>(bytes_);
  for (const auto& d : dimensions_) count = detail::saturated_product(count, d.size);
  return count;
}

void StridedCopy::run(const Kernels& kernels, const void* x, void* y, int threads, int thread, bool stream) const {
  const auto* from = static_cast<const std::byte*>(x) + x_offset_ * static_cast<Index>(bytes_);
  auto* to = static_cast<std::byte*>(y) + y_offset_ * static_cast<Index>(bytes_);
  if (kind_ == Kind::transpose) tiles(kernels, from, to, threads, thread, stream);
  else rows(kernels, from, to, threads, thread, stream);
  if (stream) kernels.fence();
}

void StridedCopy::rows(const Kernels& kernels, const std::byte* x, std::byte* y, int threads, int thread,
                       bool stream) const {
  const std::size_t outer = dimensions_.size() - 1;
  const Dimension inner = dimensions_.back();
  const auto bytes = static_cast<Index>(bytes_);
  Index count = 1;
  for (std::size_t k = 0; k < outer; ++k) count *= dimensions_[k].size;
  // Elements are divided in units of cache lines, so that a single long row is divided too.
  const Range mine = share(count * inner.size, threads, thread, std::max<Index>(1, 64 / bytes));
  if (mine.size() <= 0) return;

  Index index[16] = {};
  Index row = mine.begin / inner.size, column = mine.begin % inner.size, x_at = 0, y_at = 0;
  for (std::size_t k = outer; k-- > 0;) {
    index[k] = row % dimensions_[k].size;
    row /= dimensions_[k].size;
    x_at += index[k] * dimensions_[k].x_stride;
    y_at += index[k] * dimensions_[k].y_stride;
  }
  for (Index left = mine.size(); left > 0;) {
    const Index n = std::min(left, inner.size - column);
    const std::byte* from = x + (x_at + column * inner.x_stride) * bytes;
    std::byte* to = y + (y_at + column * inner.y_stride) * bytes;
    if (kind_ == Kind::runs) {
      const auto length = static_cast<std::size_t>(n * bytes);
      if (stream) kernels.stream(from, to, length);
      else kernels.copy(from, to, length);
    } else if (kind_ == Kind::fill) {
      kernels.fill[size_class_](from, to, n);
    } else if (inner.y_stride == 1) {
      kernels.strided[size_class_](from, inner.x_stride, to, n);
    } else {
      for (Index i = 0; i < n; ++i)
        std::copy_n(from + i * inner.x_stride * bytes, bytes, to + i * inner.y_stride * bytes);
    }
    left -= n;
    column = 0;
    for (std::size_t k = outer; k-- > 0;) {
      x_at += dimensions_[k].x_stride;
      y_at += dimensions_[k].y_stride;
      if (++index[k] < dimensions_[k].size) break;
      index[k] = 0;
      x_at -= dimensions_[k].x_stride * dimensions_[k].size;
      y_at -= dimensions_[k].y_stride * dimensions_[k].size;
    }
  }
}

void StridedCopy::tiles(const Kernels& kernels, const std::byte* x, std::byte* y, int threads, int thread,
                        bool stream) const {
  const std::size_t outer = dimensions_.size() - 2;
  const Dimension &columns = dimensions_[outer], &rows = dimensions_[outer + 1];  // contiguous in x, contiguous in y
  const auto bytes = static_cast<Index>(bytes_);
  const Index edge = tile_edge(bytes_);
  const Index across =
      rows.size < edge ? edge * edge / rows.size / edge * edge : edge;  // a narrow matrix has longer tiles
  const Index down = columns.size < edge ? edge * edge / columns.size / edge * edge : edge;
  const Index tiles_across = (columns.size + across - 1) / across, tiles_down = (rows.size + down - 1) / down;
  Index count = tiles_across * tiles_down;
  for (std::size_t k = 0; k < outer; ++k) count *= dimensions_[k].size;
  const auto kernel = stream ? kernels.transpose_stream[size_class_] : kernels.transpose[size_class_];
  const Range mine = share(count, threads, thread);
  for (Index tile = mine.begin; tile < mine.end; ++tile) {
    Index rest = tile;
    const Index i = rest % tiles_down * down;
    rest /= tiles_down;
    const Index j = rest % tiles_across * across;
    rest /= tiles_across;
    Index x_at = i * rows.x_stride + j, y_at = j * columns.y_stride + i;
    for (std::size_t k = outer; k-- > 0;) {
      const Index at = rest % dimensions_[k].size;
      rest /= dimensions_[k].size;
      x_at += at * dimensions_[k].x_stride;
      y_at += at * dimensions_[k].y_stride;
    }
    kernel(x + x_at * bytes, rows.x_stride, y + y_at * bytes, columns.y_stride, std::min(down, rows.size - i),
           std::min(across, columns.size - j));
  }
}

}  // namespace benanza::native
