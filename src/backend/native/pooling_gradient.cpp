// SPDX-License-Identifier: Apache-2.0
// Gradients of pools, one channel of an image at a time. A maximum's gradients go to the positions that the forward
// pass recorded; an average's are spread along a line, which is added to each row of the window.
#include "context.hpp"
#include <benanza/base/detail/window.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace benanza::native {

namespace {

/// One axis and, for each window, 1 / (the number of cells that its average is taken over).
struct SpreadAxis {
  detail::Window window{};
  Index outputs = 1;
  std::vector<float> share{1.0F};
};

std::vector<SpreadAxis> spread_axes(const op::PoolGradient& op) {
  const std::size_t spatial = op.x.size() - 2;
  std::vector<SpreadAxis> axes(3 - std::min<std::size_t>(spatial, 3));  // always three: depth, height, width
  for (std::size_t i = 0; i < spatial; ++i) {
    SpreadAxis axis{.window = detail::window(op.x, i, op.kernel[i], op.pads, op.strides, op.dilations), .share = {}};
    axis.outputs = axis.window.outputs();
    const Index limit = axis.window.size + axis.window.pad_end - detail::at_or(op.ceil_pads, i, 0);
    for (Index o = 0; o < axis.outputs; ++o) {
      Index count = 0;
      for (Index k = 0; k < axis.window.kernel; ++k) {
        const Index at = o * axis.window.stride + k * axis.window.dilation - axis.window.pad_begin;
        if ((at >= 0 && at < axis.window.size) || (op.include_pad && at < limit)) ++count;
      }
      axis.share.push_back(1.0F / static_cast<float>(std::max<Index>(count, 1)));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

/// Spreads row (d, h) of the result's gradient over the width, to obtain the values for each row of its window.
void spread_row(const Kernels& kernels, const SpreadAxis& width, const float* dy, float factor, float* scaled,
                float* line) {
  const detail::Window& w = width.window;
  std::memset(line, 0, static_cast<std::size_t>(w.size) * sizeof(float));
  for (Index o = 0; o < width.outputs; ++o) scaled[o] = dy[o] * factor * width.share[static_cast<std::size_t>(o)];
  for (Index k = 0; k < w.kernel; ++k) {
    const Index offset = k * w.dilation - w.pad_begin;
    const Index first = offset >= 0 ? 0 : (-offset + w.stride - 1) / w.stride;
    const Index past = w.size - offset <= 0 ? 0 : std::min(width.outputs, (w.size - 1 - offset) / w.stride + 1);
    if (past <= first) continue;
    if (w.stride == 1) kernels.scale_add(line + first + offset, scaled + first, 1, past - first);
    else
      for (Index o = first; o < past; ++o) line[o * w.stride + offset] += scaled[o];
  }
}

}  // namespace

Result plans(const op::PoolGradient& op, const Context& context) {
  if (op.type != DataType::f32 || op.x.size() > 5) return unsupported(op.kind, op.type);
  const Index images = op.x[0] * op.x[1], plane = op.plane(), results = element_count(op.y()) / images;
  if (op.mode == op::PoolMode::max)
    return one_plan(context, op.operands(), "pool_gradient:indices",
                    [=, pool = context.pool, threads = context.threads](const Arguments& arguments) {
                      pool->split(images, threads, 1, [&](Index begin, Index end) {
                        for (Index image = begin; image < end; ++image) {
                          const auto* const dy = input<float>(arguments, 0) + image * results;
                          const auto* const at = input<std::int64_t>(arguments, 1) + image * results;
                          auto* const dx = output<float>(arguments) + image * plane;
                          std::memset(dx, 0, static_cast<std::size_t>(plane) * sizeof(float));
                          for (Index i = 0; i < results; ++i) dx[at[i]] += dy[i];
                        }
                      });
                    });
  if (results == 1 && op.pads.empty() && element_count(op.kernel) == plane)
    return one_plan(context, op.operands(), "pool_gradient:fill",
                    [=, fill = context.kernels.fill[2], pool = context.pool,
                     threads = context.threads](const Arguments& arguments) {
                      pool->split(images, threads, 1, [&](Index begin, Index end) {
                        for (Index image = begin; image < end; ++image) {
                          const float share = input<float>(arguments, 0)[image] / static_cast<float>(plane);
                          fill(&share, output<float>(arguments) + image * plane, plane);
                        }
                      });
                    });
  const auto axes = spread_axes(op);
  const auto rounded = [](Index floats) { return (floats + 15) / 16 * 16; };
  const Index scratch = rounded(axes[2].window.size) + rounded(axes[2].outputs);
  return one_plan(
      context, op.operands(), "pool_gradient:rows",
      [=, &kernels = context.kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
        const auto &deep = axes[0].window, &high = axes[1].window;
        const Index width = axes[2].window.size, y_width = axes[2].outputs;
        pool->parallel(threads, [&](int thread) {
          float* const line = static_cast<float*>(arguments.workspace) + thread * scratch;
          float* const scaled = line + rounded(width);
          const Range mine = share(images, threads, thread);
          for (Index image = mine.begin; image < mine.end; ++image) {
            const auto* dy = input<float>(arguments, 0) + image * results;
            auto* const dx = output<float>(arguments) + image * plane;
            std::memset(dx, 0, static_cast<std::size_t>(plane) * sizeof(float));
            for (Index d = 0; d < axes[0].outputs; ++d)
              for (Index h = 0; h < axes[1].outputs; ++h, dy += y_width) {
                const float factor =
                    axes[0].share[static_cast<std::size_t>(d)] * axes[1].share[static_cast<std::size_t>(h)];
                spread_row(kernels, axes[2], dy, factor, scaled, line);
                for (Index kd = 0; kd < deep.kernel; ++kd) {
                  const Index zd = d * deep.stride + kd * deep.dilation - deep.pad_begin;
                  if (zd < 0 || zd >= deep.size) continue;
                  for (Index kh = 0; kh < high.kernel; ++kh) {
                    const Index zh = h * high.stride + kh * high.dilation - high.pad_begin;
                    if (zh >= 0 && zh < high.size)
                      kernels.scale_add(dx + (zd * high.size + zh) * width, line, 1, width);
                  }
                }
              }
          }
        });
      },
      sizeof(float) * static_cast<std::size_t>(scratch) * static_cast<std::size_t>(context.threads));
}

}  // namespace benanza::native
