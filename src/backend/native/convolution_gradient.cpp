// SPDX-License-Identifier: Apache-2.0
// Gradients of depthwise convolutions with respect to their weights, in blocks of channels. Each row of x, with zeros
// for its padding, is multiplied by the rows of dy that read it; the sums of a tap stay in one vector, with a lane for
// each channel.
#include "blocked.hpp"
#include "context.hpp"
#include <benanza/base/detail/window.hpp>

#include <algorithm>

namespace benanza::native {

namespace {

class DepthwiseWeightsPlan final : public Plan {
 public:
  DepthwiseWeightsPlan(const op::ConvGradient& op, const Context& context)
      : Plan(
            {.algorithm = "conv_gradient:depthwise,threads=" + std::to_string(context.threads),
             .threads = context.threads,
             .inputs = {Blocked(op.x, context.kernels.lanes).layout(), Blocked(op.y(), context.kernels.lanes).layout()},
             .outputs = plain_layouts(op.operands().outputs),
             .workspace_bytes = static_cast<std::size_t>(context.threads) * scratch_bytes(op, context.kernels.lanes)}),
        x_(op.x, context.kernels.lanes),
        dy_(op.y(), context.kernels.lanes),
        rows_(axis(op, 0)),
        columns_(axis(op, 1)),
        kernels_(context.kernels),
        pool_(context.pool) {}

 private:
  static detail::Window axis(const op::ConvGradient& op, std::size_t i) {
    return detail::window(op.x, i, op.w[i + 2], op.pads, op.strides, op.dilations);
  }
  /// Vectors of a row of x that are read by some window.
  static Index line(const detail::Window& w) { return (w.outputs() - 1) * w.stride + (w.kernel - 1) * w.dilation + 1; }
  /// Space for a row of x and the sums of all taps.
  static std::size_t scratch_bytes(const op::ConvGradient& op, Index lanes) {
    const Index vectors = line(axis(op, 1)) + op.w[2] * op.w[3];
    return (static_cast<std::size_t>(vectors * lanes) * sizeof(float) + 63) / 64 * 64;
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    (i == 0 ? x_ : dy_).pack(static_cast<const float*>(plain), static_cast<float*>(packed));
  }

  void do_execute(const Arguments& arguments) const override {
    const std::size_t bytes = workspace_bytes() / static_cast<std::size_t>(threads());
    pool_->parallel(threads(), [&](int thread) {
      auto* const strip = reinterpret_cast<float*>(static_cast<std::byte*>(arguments.workspace) +
                                                   static_cast<std::size_t>(thread) * bytes);
      float* const sums = strip + line(columns_) * x_.lanes;
      const Range mine = share(x_.blocks(), threads(), thread);
      for (Index block = mine.begin; block < mine.end; ++block) {
        std::fill_n(sums, rows_.kernel * columns_.kernel * x_.lanes, 0.0F);
        for (Index image = 0; image < x_.images; ++image) {
          const Index at = image * x_.blocks() + block;
          add_plane(input<float>(arguments, 0) + at * x_.plane * x_.lanes,
                    input<float>(arguments, 1) + at * dy_.plane * dy_.lanes, strip, sums);
        }
        write(block, sums, output<float>(arguments));
      }
    });
  }

  void add_plane(const float* x, const float* dy, float* strip, float* sums) const {
    const Index lanes = x_.lanes, outputs = columns_.outputs(), width = line(columns_);
    const Index before = std::clamp<Index>(columns_.pad_begin, 0, width),
                skipped = std::max<Index>(-columns_.pad_begin, 0);
    const Index count = std::clamp<Index>(columns_.size - skipped, 0, width - before);
    for (Index row = 0; row < rows_.size; ++row) {
      bool brought = false;
      for (Index tap = 0; tap < rows_.kernel; ++tap) {
        const Index from = row + rows_.pad_begin - tap * rows_.dilation;
        if (from < 0 || from % rows_.stride != 0 || from / rows_.stride >= rows_.outputs()) continue;
        if (!std::exchange(brought, true))
          kernels_.frame[1](x + (row * columns_.size + skipped) * lanes, 1, before, count, width - before - count,
                            strip);
        kernels_.window_products(strip, columns_.stride * lanes, columns_.dilation * lanes,
                                 dy + from / rows_.stride * outputs * lanes, outputs,
                                 sums + tap * columns_.kernel * lanes, columns_.kernel);
      }
    }
  }

  void write(Index block, const float* sums, float* dw) const {
    const Index taps = rows_.kernel * columns_.kernel, first = block * x_.lanes;
    for (Index lane = 0; lane < std::min(x_.lanes, x_.channels - first); ++lane)
      for (Index tap = 0; tap < taps; ++tap) dw[(first + lane) * taps + tap] = sums[tap * x_.lanes + lane];
  }

  Blocked x_, dy_;
  detail::Window rows_, columns_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

Result plans(const op::ConvGradient& op, const Context& context) {
  const bool depthwise = op.group == op.x[1] && op.w[0] == op.group;
  if (op.type != DataType::f32 || op.of != op::ConvGradientOf::weights || op.x.size() != 4 || !depthwise ||
      context.kernels.lanes <= 4)
    return unsupported(op.kind, op.type);
  Plans plans;
  plans.push_back(std::make_unique<DepthwiseWeightsPlan>(op, context));
  return plans;
}

}  // namespace benanza::native
