// SPDX-License-Identifier: Apache-2.0
// Pooling in the plain layout, for what libraries lack (indices, lp, odd dilations) and as another candidate. Maximum
// and average fold the rows that a row of the result reads into one padded row and slide along it; all other modes go
// tap by tap. A window that covers the whole plane is a reduction. In blocks of channels, maximum and average fold rows
// and then columns, vector by vector, but process common small windows in one step.
#include "blocked.hpp"
#include "context.hpp"
#include <benanza/base/detail/window.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace benanza::native {

namespace {

/// One axis and, for each output, 1 / (the number of taps that count for an average).
struct Axis {
  detail::Window window{};
  Index outputs = 0;
  std::vector<float> share{};

  /// Outputs [begin, end) whose tap k is inside x.
  [[nodiscard]] Range reached(Index k) const {
    const Index offset = k * window.dilation - window.pad_begin;  // reads o * stride + offset
    const Index first = offset >= 0 ? 0 : (-offset + window.stride - 1) / window.stride;
    const Index past = window.size - offset <= 0 ? 0 : (window.size - 1 - offset) / window.stride + 1;
    return {std::min(first, outputs), std::max(std::min(first, outputs), std::min(past, outputs))};
  }
};

struct Geometry {
  op::Pool op{};
  std::vector<Axis> axes{};  // always three: depth, height, width
  Index plane = 1, y_plane = 1;
  Index line = 1;  // cells covered by a row of the result
};

Geometry geometry(const op::Pool& op) {
  Geometry g{.op = op};
  const std::size_t spatial = op.x.size() - 2;
  for (std::size_t missing = spatial; missing < 3; ++missing) g.axes.push_back({.outputs = 1, .share = {1}});
  for (std::size_t i = 0; i < spatial; ++i) {
    Axis axis{.window = detail::window(op.x, i, op.kernel[i], op.pads, op.strides, op.dilations)};
    axis.outputs = axis.window.outputs();
    const Index limit = axis.window.size + axis.window.pad_end -
                        detail::at_or(op.ceil_pads, i, 0);  // cells added by ceil_mode never count
    for (Index o = 0; o < axis.outputs; ++o) {
      Index count = 0;
      for (Index k = 0; k < axis.window.kernel; ++k) {
        const Index at = o * axis.window.stride + k * axis.window.dilation - axis.window.pad_begin;
        const bool inside = at >= 0 && at < axis.window.size;
        if (inside || (op.include_pad && at < limit)) ++count;
      }
      axis.share.push_back(1.0F / static_cast<float>(std::max<Index>(count, 1)));
    }
    g.plane *= axis.window.size;
    g.y_plane *= axis.outputs;
    g.axes.push_back(std::move(axis));
  }
  const auto& w = g.axes[2].window;
  g.line = (g.axes[2].outputs - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
  return g;
}

/// Calls `visit(row of x, first output, count, x offset of the first, stride)` for each tap that is read by row (d, h)
/// of the result.
template <class Visit>
void for_each_tap(const Geometry& g, Index d, Index h, const Visit& visit) {
  const auto &dw = g.axes[0].window, &hw = g.axes[1].window, &ww = g.axes[2].window;
  for (Index kd = 0; kd < dw.kernel; ++kd) {
    const Index zd = d * dw.stride + kd * dw.dilation - dw.pad_begin;
    if (zd < 0 || zd >= dw.size) continue;
    for (Index kh = 0; kh < hw.kernel; ++kh) {
      const Index zh = h * hw.stride + kh * hw.dilation - hw.pad_begin;
      if (zh < 0 || zh >= hw.size) continue;
      for (Index kw = 0; kw < ww.kernel; ++kw) {
        const Range reached = g.axes[2].reached(kw);
        if (reached.size() > 0)
          visit(reached.begin, reached.size(),
                (zd * hw.size + zh) * ww.size + reached.begin * ww.stride + kw * ww.dilation - ww.pad_begin);
      }
    }
  }
}

/// Taps of a window that are inside x.
Range taps_within(const detail::Window& w, Index o) {
  const Index at = o * w.stride - w.pad_begin;
  const Index begin = at >= 0 ? 0 : (-at + w.dilation - 1) / w.dilation;
  const Index end = w.size - at <= 0 ? 0 : std::min(w.kernel, (w.size - at + w.dilation - 1) / w.dilation);
  return {begin, std::max(begin, end)};
}

/// Folds the rows of x that row (d, h) of the result reads into one row with neutral ends.
void fold_window(const Kernels& kernels, const Geometry& g, const float* x, Index d, Index h, Fold fold, float* line) {
  const auto &dw = g.axes[0].window, &hw = g.axes[1].window, &ww = g.axes[2].window;
  std::fill_n(line, g.line, fold == Fold::max ? -std::numeric_limits<float>::infinity() : 0.0F);
  const Index skipped = std::max<Index>(-ww.pad_begin, 0),
              first = std::max<Index>(ww.pad_begin, 0);  // negative pads crop
  const Index n = std::min(ww.size - skipped, g.line - first);
  const Range kd = taps_within(dw, d), kh = taps_within(hw, h);
  if (n <= 0 || kh.size() <= 0) return;
  for (Index k = kd.begin; k < kd.end; ++k) {
    const Index zd = d * dw.stride + k * dw.dilation - dw.pad_begin,
                zh = h * hw.stride + kh.begin * hw.dilation - hw.pad_begin;
    kernels.fold_rows[static_cast<std::size_t>(fold)](line + first, x + (zd * hw.size + zh) * ww.size + skipped,
                                                      hw.dilation * ww.size, kh.size(), n);
  }
}

void row_of_max(const Kernels& kernels, const Geometry& g, const float* x, Index d, Index h, float* y, float* line) {
  const auto& w = g.axes[2].window;
  fold_window(kernels, g, x, d, h, Fold::max, line);
  kernels.slide_max(line, y, g.axes[2].outputs, w.kernel, w.stride, w.dilation);
}

void row_of_average(const Kernels& kernels, const Geometry& g, const float* x, Index d, Index h, float* y,
                    float* line) {
  const auto& w = g.axes[2].window;
  fold_window(kernels, g, x, d, h, Fold::sum, line);
  kernels.slide_sum(line, y, g.axes[2].outputs, w.kernel, w.stride, w.dilation);
  const float factor = g.axes[0].share[static_cast<std::size_t>(d)] * g.axes[1].share[static_cast<std::size_t>(h)];
  const float* share = g.axes[2].share.data();
  for (Index i = 0; i < g.axes[2].outputs; ++i) y[i] *= factor * share[i];
}

/// Floats of a line of results, in whole cache lines.
Index index_line(const Geometry& g) { return (g.axes[2].outputs + 15) / 16 * 16; }

/// `lines` has space for two: recorded positions, and cells separated by a stride.
void row_of_indices(const Kernels& kernels, const Geometry& g, const float* x, Index base, Index d, Index h, float* y,
                    std::int64_t* at, float* lines) {
  const Index width = g.axes[2].outputs, stride = g.axes[2].window.stride;
  auto* const noted = reinterpret_cast<std::int32_t*>(lines);
  float* const cells = lines + index_line(g);
  std::fill_n(y, width, -std::numeric_limits<float>::infinity());
  std::fill_n(noted, width, nothing_taken);
  for_each_tap(g, d, h, [&](Index first, Index n, Index from) {
    const float* read = x + from;
    if (stride != 1) {
      kernels.strided[2](read, stride, cells, n);
      read = cells;
    }
    kernels.max_into(y + first, noted + first, read, n, static_cast<std::int32_t>(from - first * stride));
  });
  kernels.positions(noted, base, stride, at, width);
}

void row_of_norm(const Geometry& g, const float* x, Index d, Index h, float* y) {
  const Index width = g.axes[2].outputs, stride = g.axes[2].window.stride;
  const auto p = static_cast<float>(g.op.p);
  std::fill_n(y, width, 0.0F);
  for_each_tap(g, d, h, [&](Index first, Index n, Index from) {
    if (g.op.p == 2) {
      for (Index i = 0; i < n; ++i) y[first + i] += x[from + i * stride] * x[from + i * stride];
    } else if (g.op.p == 1) {
      for (Index i = 0; i < n; ++i) y[first + i] += std::fabs(x[from + i * stride]);
    } else {
      for (Index i = 0; i < n; ++i) y[first + i] += std::pow(std::fabs(x[from + i * stride]), p);
    }
  });
  for (Index i = 0; i < width; ++i) y[i] = g.op.p == 2 ? std::sqrt(y[i]) : g.op.p == 1 ? y[i] : std::pow(y[i], 1 / p);
}

class BlockedPoolPlan final : public Plan {
 public:
  BlockedPoolPlan(const Geometry& g, const Context& context)
      : Plan({.algorithm = "pool:blocks,threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = {Blocked(g.op.x, context.kernels.lanes).layout()},
              .outputs = {Blocked(g.op.y(), context.kernels.lanes).layout()},
              .workspace_bytes = static_cast<std::size_t>(context.threads) * line_bytes(g, context.kernels.lanes)}),
        geometry_(g),
        x_(g.op.x, context.kernels.lanes),
        y_(g.op.y(), context.kernels.lanes),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  static std::size_t line_bytes(const Geometry& g, Index lanes) {
    return (static_cast<std::size_t>(std::max(g.line, g.axes[2].outputs) * lanes) * sizeof(float) + 63) / 64 * 64;
  }

  void do_pack_input(std::size_t, const void* plain, void* packed) const override {
    x_.pack(static_cast<const float*>(plain), static_cast<float*>(packed));
  }
  void do_unpack_output(std::size_t, const void* packed, void* plain) const override {
    y_.unpack(static_cast<const float*>(packed), static_cast<float*>(plain));
  }
  [[nodiscard]] std::optional<std::int64_t> do_output_position(std::size_t, std::int64_t index) const override {
    return y_.position(index);
  }

  void do_execute(const Arguments& arguments) const override {
    const Index height = geometry_.axes[1].outputs, lanes = kernels_.lanes;
    pool_->parallel(threads(), [&](int thread) {
      auto* const line = reinterpret_cast<float*>(static_cast<std::byte*>(arguments.workspace) +
                                                  static_cast<std::size_t>(thread) * line_bytes(geometry_, lanes));
      std::vector<float> scale(static_cast<std::size_t>(geometry_.axes[2].outputs));
      std::fill_n(line, geometry_.line * lanes, neutral());
      const Range mine = share(x_.images * x_.blocks() * height, threads(), thread);
      for (Index row = mine.begin; row < mine.end; ++row)
        run(input<float>(arguments, 0) + row / height * x_.plane * lanes, row % height,
            output<float>(arguments) + row * geometry_.axes[2].outputs * lanes, line, scale);
    });
  }

  [[nodiscard]] bool sums() const { return geometry_.op.mode == op::PoolMode::average; }
  [[nodiscard]] float neutral() const { return sums() ? 0.0F : -std::numeric_limits<float>::infinity(); }

  /// Computes row `row` of the result of a block of channels. `line` keeps its neutral ends.
  void run(const float* x, Index row, float* y, float* line, std::vector<float>& scale) const {
    const auto &h = geometry_.axes[1].window, &w = geometry_.axes[2].window;
    const Index lanes = kernels_.lanes, skipped = std::max<Index>(-w.pad_begin, 0),
                first = std::max<Index>(w.pad_begin, 0);  // negative pads crop
    const Index n = std::min(w.size - skipped, geometry_.line - first);
    const Range taps = taps_within(h, row);
    for (std::size_t i = 0; i < scale.size(); ++i)
      scale[i] = geometry_.axes[1].share[static_cast<std::size_t>(row)] * geometry_.axes[2].share[i];
    if (taps.size() > 0 && w.dilation == 1 && window_is_fast(taps.size(), w.kernel, w.stride)) {
      kernels_.fast_window[sums() ? 1 : 0](
          x + (row * h.stride + taps.begin * h.dilation - h.pad_begin) * w.size * lanes, h.dilation * w.size * lanes,
          taps.size(), w.size, w.pad_begin, y, geometry_.axes[2].outputs, w.kernel, w.stride, scale.data());
      return;
    }
    if (n > 0 && taps.size() == 0) std::fill_n(line + first * lanes, n * lanes, neutral());
    if (n > 0 && taps.size() > 0)
      kernels_.fold_lines[sums() ? 1 : 0](
          x + ((row * h.stride + taps.begin * h.dilation - h.pad_begin) * w.size + skipped) * lanes,
          h.dilation * w.size * lanes, taps.size(), line + first * lanes, n * lanes);
    kernels_.slide_blocks[sums() ? 1 : 0](line, y, geometry_.axes[2].outputs, w.kernel, w.stride, w.dilation,
                                          scale.data());
  }

  Geometry geometry_;
  Blocked x_, y_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

Result plans(const op::Pool& op, const Context& context) {
  if (op.type != DataType::f32 || op.x.size() > 5) return unsupported(op.kind, op.type);
  const Geometry g = geometry(op);
  if (op.indices && g.plane > std::numeric_limits<std::int32_t>::max()) return unsupported(op.kind, op.type);
  const Index images = op.x[0] * op.x[1];
  const auto& kernels = context.kernels;
  Plans plans;
  const auto add_blocks = [&] {
    if (op.x.size() == 4 && op.mode != op::PoolMode::lp && !op.indices && context.kernels.lanes > 4)
      plans.push_back(std::make_unique<BlockedPoolPlan>(g, context));
  };
  if (g.y_plane == 1 && op.pads.empty() && element_count(op.kernel) == g.plane && !op.indices && op.p == 2) {
    plans = one_plan(
        context, op.operands(), "pool:reduce",
        [=, &kernels, plane = g.plane, pool = context.pool, threads = context.threads](const Arguments& arguments) {
          const Fold fold = op.mode == op::PoolMode::max  ? Fold::max
                            : op.mode == op::PoolMode::lp ? Fold::sum_square
                                                          : Fold::sum;
          pool->split(images, threads, 1, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
              const double value =
                  kernels.fold[static_cast<std::size_t>(fold)](input<float>(arguments, 0) + i * plane, plane);
              const double result = op.mode == op::PoolMode::max  ? value
                                    : op.mode == op::PoolMode::lp ? std::sqrt(value)
                                                                  : value / static_cast<double>(plane);
              output<float>(arguments)[i] = static_cast<float>(result);
            }
          });
        });
    add_blocks();
    return plans;
  }
  const Index floats = op.indices ? 2 * index_line(g) : g.line;
  const std::size_t scratch = (static_cast<std::size_t>(floats) * sizeof(float) + 63) / 64 * 64;
  const auto run = [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
    const Index width = g.axes[2].outputs, rows_of_image = g.axes[0].outputs * g.axes[1].outputs;
    pool->parallel(threads, [&](int thread) {
      auto* line = reinterpret_cast<float*>(static_cast<std::byte*>(arguments.workspace) +
                                            static_cast<std::size_t>(thread) * scratch);
      const Range mine = share(images * rows_of_image, threads, thread);
      for (Index row = mine.begin; row < mine.end; ++row) {
        const Index image = row / rows_of_image, d = row % rows_of_image / g.axes[1].outputs,
                    h = row % g.axes[1].outputs;
        const float* x = input<float>(arguments, 0) + image * g.plane;
        float* y = output<float>(arguments) + row * width;
        switch (op.mode) {
          case op::PoolMode::max:
            if (op.indices)
              row_of_indices(kernels, g, x, image * g.plane, d, h, y, output<std::int64_t>(arguments, 1) + row * width,
                             line);
            else row_of_max(kernels, g, x, d, h, y, line);
            break;
          case op::PoolMode::average: row_of_average(kernels, g, x, d, h, y, line); break;
          case op::PoolMode::lp: row_of_norm(g, x, d, h, y); break;
        }
      }
    });
  };
  plans = one_plan(context, op.operands(), "pool:rows", run, scratch * static_cast<std::size_t>(context.threads));
  add_blocks();
  return plans;
}

}  // namespace benanza::native
