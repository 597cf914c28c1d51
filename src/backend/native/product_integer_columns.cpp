// SPDX-License-Identifier: Apache-2.0
#include "product_integer_columns.hpp"

#include <benanza/base/detail/window.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace benanza::native {

namespace {

/// The windows of a convolution; all axes except the last are outer ones.
struct Windows {
  std::vector<detail::Window> axes{};
  Index channels = 1, plane = 1, taps = 1, width = 1;
  std::uint8_t padding = 0;

  /// The start of tap `tap` of the windows on one line in its channel; empty if it is outside. `line` is a line of the
  /// result.
  [[nodiscard]] std::optional<Index> line_of(Index line, Index tap) const {
    Index offset = 0, size = axes.back().size;
    tap /= axes.back().kernel;
    for (std::size_t i = axes.size() - 1; i-- > 0;) {
      const auto& axis = axes[i];
      const Index at = line % axis.outputs() * axis.stride + tap % axis.kernel * axis.dilation - axis.pad_begin;
      if (at < 0 || at >= axis.size) return std::nullopt;
      offset += at * size;
      size *= axis.size;
      line /= axis.outputs();
      tap /= axis.kernel;
    }
    return offset;
  }

  /// Copies `count` windows of one line, starting with number `first`, to columns of the buffer.
  void copy(const std::uint8_t* x, Index line, Index first, Index count, std::uint8_t* to) const {
    const auto& last = axes.back();
    for (Index tap = 0; tap < taps; ++tap) {
      const auto begin = line_of(line, tap);
      const Index offset = first * last.stride + tap % last.kernel * last.dilation - last.pad_begin;
      const auto reached = [&](Index limit) {  // windows whose tap is before `limit`
        return std::clamp<Index>(offset >= limit ? 0 : (limit - offset + last.stride - 1) / last.stride, 0, count);
      };
      const Index from = begin ? reached(0) : count, until = begin ? reached(last.size) : count;
      for (Index c = 0; c < channels; ++c) {
        std::uint8_t* const row = to + (c * taps + tap) * width;
        const std::uint8_t* const source = x + c * plane + begin.value_or(0) + offset;
        std::memset(row, padding, static_cast<std::size_t>(from));
        if (last.stride == 1 && from < until)
          std::memcpy(row + from, source + from, static_cast<std::size_t>(until - from));
        else
          for (Index i = from; i < until; ++i) row[i] = source[i * last.stride];
        std::memset(row + until, padding, static_cast<std::size_t>(count - until));
      }
    }
  }
};

}  // namespace

Columns matrix_columns(Index depth, Index n, Index width, bool transposed) {
  return [=](const std::uint8_t* x, Index first, Index count, std::uint8_t* buffer) -> ByteRows {
    if (!transposed && count == width) return {x + first, n};
    for (Index i = 0; i < depth; ++i)
      for (Index j = 0; j < width; ++j)
        buffer[i * width + j] = j >= count ? 0 : transposed ? x[(first + j) * depth + i] : x[i * n + first + j];
    return {buffer, width};
  };
}

Columns window_columns(const op::Conv& op, std::uint8_t padding, Index width) {
  Windows windows{.channels = op.w[1], .width = width, .padding = padding};
  bool points = true;  // every window is one element, and none is skipped
  for (std::size_t i = 0; i + 2 < op.x.size(); ++i) {
    const auto axis = detail::window(op.x, i, op.w[i + 2], op.pads, op.strides, op.dilations);
    points = points && axis.kernel == 1 && axis.stride == 1 && axis.outputs() == axis.size && axis.pad_begin == 0;
    windows.plane *= axis.size;
    windows.taps *= axis.kernel;
    windows.axes.push_back(axis);
  }
  if (points) return matrix_columns(op.w[1], windows.plane, width, false);
  return [windows = std::move(windows)](const std::uint8_t* x, Index first, Index count, std::uint8_t* buffer) {
    const Index line_length = windows.axes.back().outputs();
    for (Index done = 0; done < count;) {
      const Index line = (first + done) / line_length, at = (first + done) % line_length;
      const Index here = std::min(count - done, line_length - at);
      windows.copy(x, line, at, here, buffer + done);
      done += here;
    }
    return ByteRows{buffer, windows.width};
  };
}

}  // namespace benanza::native
