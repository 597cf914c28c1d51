// SPDX-License-Identifier: Apache-2.0
// Convolutions of 8-bit integers with any zero points and signs, which libraries lack: products of matrices, the left
// one read through the windows, in tiles of shared memory, with four multiply-adds per instruction.
#include "integers.cuh"

namespace benanza::cuda {

namespace {

inline constexpr int tile = 64, step = 8;              // pixels and results of a block; words of their sums at a time
inline constexpr int side = 16, each = tile / side;    // threads along a tile, and results per thread along it
inline constexpr int rows = threads_per_block / step;  // rows of a tile that are loaded at once
static_assert(side * side == threads_per_block && tile % rows == 0);

/// The same byte repeated four times.
__device__ inline std::int32_t repeated(std::int32_t byte) {
  return static_cast<std::int32_t>((byte & 0xFF) * 0x01010101U);
}

/// The position where a pixel's window begins.
struct Origin {
  std::int64_t image = 0, row = 0, column = 0;
};
__device__ inline Origin origin_of(const IntegerWindows& windows, std::int64_t pixel) {
  const std::int64_t column = take(pixel, windows.outputs[1]), row = take(pixel, windows.outputs[0]);
  return {pixel, row * windows.strides[0] - windows.pads[0], column * windows.strides[1] - windows.pads[1]};
}

/// Outside the border, x is its zero point.
template <class X, class Y, bool w_has_zero>
__global__ void __launch_bounds__(threads_per_block)
    integer_convolution_kernel(IntegerConvolutionShape shape, const std::int32_t* __restrict__ x,
                               const std::int32_t* __restrict__ w, const std::int32_t* __restrict__ bias,
                               Y* __restrict__ y) {
  __shared__ std::int32_t xs[step][tile + 1], ws[step][tile + 1];
  const IntegerWindows& windows = shape.windows;
  const std::int64_t pixels = shape.batch * windows.outputs[0] * windows.outputs[1];
  const std::int64_t depth = shape.words * windows.kernel[0] * windows.kernel[1];
  const std::int64_t channel_tiles = (shape.channels + tile - 1) / tile;
  const std::int64_t tiles = (pixels + tile - 1) / tile * channel_tiles * shape.groups;
  const std::int32_t* const offsets = w + shape.groups * shape.channels * depth;
  const int lane = static_cast<int>(threadIdx.x) % side, line = static_cast<int>(threadIdx.x) / side;
  const int loaded = static_cast<int>(threadIdx.x) % step, first_row = static_cast<int>(threadIdx.x) / step;
  for (std::int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    std::int64_t rest = at;
    const std::int64_t channel = take(rest, channel_tiles) * tile, group = take(rest, shape.groups),
                       pixel = rest * tile;
    Origin origin[tile / rows];
    for (int i = 0; i < tile / rows; ++i) origin[i] = origin_of(windows, pixel + first_row + i * rows);
    std::int32_t sum[each][each]{}, x_sum[each]{};
    for (std::int64_t begin = 0; begin < depth; begin += step) {
      std::int64_t tap = begin + loaded;
      const bool is_inside = tap < depth;
      const std::int64_t word = take(tap, shape.words);
      const std::int64_t column_of_tap = take(tap, windows.kernel[1]);
      for (int i = 0; i < tile / rows; ++i) {
        const int row_of_tile = first_row + i * rows;
        const std::int64_t row = origin[i].row + tap * windows.dilations[0],
                           column = origin[i].column + column_of_tap * windows.dilations[1];
        std::int32_t of_x = 0, of_w = 0;
        if (is_inside && pixel + row_of_tile < pixels) {
          of_x = repeated(windows.x_zero);
          if (row >= 0 && row < windows.sizes[0] && column >= 0 && column < windows.sizes[1]) {
            of_x = x[(((origin[i].image * windows.sizes[0] + row) * windows.sizes[1] + column) * shape.groups + group) *
                         shape.words +
                     word];
            if (std::is_same_v<X, std::uint8_t>) of_x ^= static_cast<std::int32_t>(0x80808080U);
          }
        }
        if (is_inside && channel + row_of_tile < shape.channels)
          of_w = w[(group * shape.channels + channel + row_of_tile) * depth + begin + loaded];
        xs[loaded][row_of_tile] = of_x;
        ws[loaded][row_of_tile] = of_w;
      }
      __syncthreads();
      for (int k = 0; k < step; ++k)
        for (int i = 0; i < each; ++i) {
          const std::int32_t of_x = xs[k][line + i * side];
          if (w_has_zero) x_sum[i] = __dp4a(of_x, 0x01010101, x_sum[i]);
          for (int j = 0; j < each; ++j) sum[i][j] = __dp4a(of_x, ws[k][lane + j * side], sum[i][j]);
        }
      __syncthreads();
    }
    for (int i = 0; i < each; ++i)
      for (int j = 0; j < each; ++j) {
        const std::int64_t to = pixel + line + i * side, of_group = channel + lane + j * side;
        if (to >= pixels || of_group >= shape.channels) continue;
        const std::int64_t result = group * shape.channels + of_group;
        const std::int32_t whole[1]{sum[i][j] - windows.w_zero * x_sum[i] + offsets[result] +
                                    (bias != nullptr ? bias[result] : 0)};
        store_sums(y + to * shape.groups * shape.channels + result, whole, windows);
      }
  }
}

}  // namespace

void integer_convolution(const IntegerConvolutionShape& shape, Element x_element, IntegerResult result, const void* x,
                         const void* w, const void* bias, void* y, cudaStream_t stream) {
  const std::int64_t pixels = shape.batch * shape.windows.outputs[0] * shape.windows.outputs[1];
  const unsigned blocks =
      blocks_for((pixels + tile - 1) / tile * ((shape.channels + tile - 1) / tile) * shape.groups, 1);
  with_integer(x_element, [&](auto zero) {
    with_result(result, [&](auto y_zero) {
      using X = decltype(zero);
      using Y = decltype(y_zero);
      const auto kernel =
          shape.windows.w_zero == 0 ? integer_convolution_kernel<X, Y, false> : integer_convolution_kernel<X, Y, true>;
      kernel<<<blocks, threads_per_block, 0, stream>>>(shape, static_cast<const std::int32_t*>(x),
                                                       static_cast<const std::int32_t*>(w),
                                                       static_cast<const std::int32_t*>(bias), static_cast<Y*>(y));
    });
  });
}

}  // namespace benanza::cuda
