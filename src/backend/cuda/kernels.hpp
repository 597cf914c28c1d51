// SPDX-License-Identifier: Apache-2.0
// Benanza's own kernels as host functions: each enqueues one launch. What a kernel needs in addition to its buffers is
// passed by value; the caller's next check detects a failed launch.
#pragma once

#include "attention.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace benanza::cuda {

inline constexpr int most_dims = 8;

/// Element types for arithmetic, which is always done in f32. Results of i8 and u8 are rounded to nearest even and
/// saturated; only kernels that say so take these types.
enum class Element : std::uint8_t { f32, f16, bf16, f8e4m3, f8e5m2, i8, u8 };

/// y[y_offset + sum of i * y_stride] = x[x_offset + sum of i * x_stride], outermost dimension first.
struct CopyShape {
  int rank = 1;
  std::int64_t sizes[most_dims]{}, x_strides[most_dims]{}, y_strides[most_dims]{};
  std::int64_t x_offset = 0, y_offset = 0, elements = 0;
};
/// Elements of 1, 2, 4, 8 or 16 bytes.
void copy_strided(const CopyShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream);
/// The last dimension is contiguous in y, the one before it in x. The copy goes through tiles in shared memory.
void copy_transposed(const CopyShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream);

/// Rows that are split over several tensors, a piece of each row in each; a piece of every row ends at `ends`, in
/// cells.
inline constexpr int most_pieces = 32;
struct PieceShape {
  int pieces = 1;
  std::int64_t rows = 1, ends[most_pieces]{};
};
struct PieceBuffers {
  void* piece[most_pieces]{};
  void* whole = nullptr;
};
/// Copies cells of 1, 2, 4, 8 or 16 bytes from the pieces to the whole, or the other way.
void join_pieces(const PieceShape& shape, std::size_t cell_bytes, const PieceBuffers& buffers, cudaStream_t stream);
void part_pieces(const PieceShape& shape, std::size_t cell_bytes, const PieceBuffers& buffers, cudaStream_t stream);

/// One element-wise step on a running value; the numbers are those of ElementwiseFn.
struct ChainStep {
  std::int32_t fn = 0;
  std::int32_t operand = -1;  ///< the other operand of a binary function
  bool swapped = false;
  float alpha = 0, beta = 0;
};
/// Steps without an ElementwiseFn: value / sqrt(operand + alpha); selection, by a truth value, of the operand or the
/// one after it; value * alpha.
inline constexpr std::int32_t step_rsqrt = 1000, step_select = 1001, step_scale = 1002;

inline constexpr int most_operands = 12, most_steps = 12;
struct Chain {
  int rank = 1, operands = 1, steps = 0;
  std::int64_t sizes[most_dims]{}, elements = 0;     ///< dimensions and size of y, folded
  std::int64_t strides[most_operands][most_dims]{};  ///< strides of each operand, 0 if it broadcasts
  bool flat[most_operands]{};                        ///< has the layout of y
  bool truth[most_operands]{};                       ///< one byte per element, 0 or 1
  ChainStep step[most_steps]{};
};
struct ChainBuffers {
  const void* operand[most_operands]{};
  void* y = nullptr;
};
/// The running value starts as operand 0; for `step_select`, operand 0 is the condition. Takes integers.
void run_chain(const Chain& chain, Element element, const ChainBuffers& buffers, cudaStream_t stream);

enum class RowFunction : std::uint8_t { softmax, log_softmax, layer_norm, rms_norm };
/// Rows of `length` contiguous elements. Scale and bias have one element for each `scale_length` consecutive elements
/// and start again after `scale_count`; null if there are none.
struct RowShape {
  std::int64_t rows = 1, length = 1;
  std::int64_t scale_length = 1, scale_count = 1;
  float epsilon = 1e-5F;
};
/// Whether each row uses every scale once.
constexpr bool along_rows(const RowShape& shape) {
  return shape.scale_length == 1 && shape.scale_count == shape.length;
}
/// Buffers that do not exist are null. For a norm, a row is x + residual + x_bias, which is also written to `sum`.
struct RowBuffers {
  const void *x = nullptr, *residual = nullptr, *x_bias = nullptr, *scale = nullptr, *bias = nullptr;
  void *y = nullptr, *sum = nullptr;
};
void run_rows(RowFunction function, const RowShape& shape, Element element, const RowBuffers& buffers,
              cudaStream_t stream);
/// Softmax along the middle of outer x axis x inner, one thread per column.
void softmax_columns(std::int64_t outer, std::int64_t axis, std::int64_t inner, bool log, Element element,
                     const void* x, void* y, cudaStream_t stream);

/// Adds to each score its element of the mask, then converts the scores in place to the weights of attention: softmax
/// along the keys. Floats of 16 bits or more; `mask` is null if there is none.
void attention_weights(const WeightShape& shape, Element element, const void* mask, void* scores, cudaStream_t stream);

/// Rows of `depth` contiguous elements, each pair of which is rotated by its own angle. The angles' position depends on
/// the row's leading coordinates; there is one for each pair or one for each element.
struct RotaryShape {
  int rank = 1;  ///< number of leading dimensions
  std::int64_t sizes[most_dims]{}, strides[most_dims]{};
  std::int64_t rows = 1, depth = 2;
  bool each_element = true;  ///< each element has its own angle
  bool interleaved = false;  ///< pairs are adjacent; otherwise one element from each half
};
void rotary(const RotaryShape& shape, Element element, const void* x, const void* cosines, const void* sines, void* y,
            cudaStream_t stream);

enum class Reduction : std::uint8_t { mean, sum, max, min, prod, l1, l2, sum_square, log_sum, log_sum_exp };
/// `kept` describes the outputs, `reduced` the elements that are combined into each (sizes and strides in x, which is
/// row-major).
struct ReduceShape {
  int kept_rank = 1, reduced_rank = 1;
  std::int64_t kept_sizes[most_dims]{}, kept_strides[most_dims]{}, reduced_sizes[most_dims]{},
      reduced_strides[most_dims]{};
  std::int64_t outputs = 1, length = 1;
};
[[nodiscard]] std::size_t reduce_workspace(Reduction reduction, const ReduceShape& shape);
/// Takes integers.
void reduce(Reduction reduction, const ReduceShape& shape, Element element, const void* x, void* y, void* workspace,
            cudaStream_t stream);

/// Rows of `row_bytes` from outer x axis, at `count` indices for each outer entry.
void gather_rows(const void* x, const void* indices, bool wide_index, void* y, std::int64_t outer, std::int64_t axis,
                 std::int64_t count, std::size_t row_bytes, cudaStream_t stream);
/// The location in x of the elements of an index tensor: `sizes` of the indices, `strides` of x, `axis` by index.
struct IndexShape {
  int rank = 1, axis = 0;
  std::int64_t sizes[most_dims]{}, strides[most_dims]{};
  std::int64_t axis_size = 1, elements = 1;
  bool wide_index = true;
};
void gather_elements(const IndexShape& shape, std::size_t element_bytes, const void* x, const void* indices, void* y,
                     cudaStream_t stream);
/// Tuples of `tuple` indices into dimensions of these sizes; each selects a slice of `slice` elements.
struct TupleShape {
  int tuple = 1;
  std::int64_t sizes[most_dims]{};
  std::int64_t tuples = 1, slice = 1, tuples_a_batch = 1, batch_elements = 0;
  bool wide_index = true;
};
void gather_tuples(const TupleShape& shape, std::size_t element_bytes, const void* x, const void* indices, void* y,
                   cudaStream_t stream);
/// If two updates write the same element, the later one wins. `winners`: space for one number per element of y, or per
/// slice if tuples select slices.
void scatter_elements(const IndexShape& shape, std::size_t element_bytes, const void* indices, const void* updates,
                      std::int32_t* winners, void* y, cudaStream_t stream);
void scatter_tuples(const TupleShape& shape, std::size_t element_bytes, const void* indices, const void* updates,
                    std::int32_t* winners, void* y, cudaStream_t stream);
/// Adds updates of f32.
void scatter_elements_add(const IndexShape& shape, const void* indices, const void* updates, void* y,
                          cudaStream_t stream);
void scatter_tuples_add(const TupleShape& shape, const void* indices, const void* updates, void* y,
                        cudaStream_t stream);

/// A table of taps for each axis; cell i of axis k reads at[k][t * size + i].
struct ResizeShape {
  int rank = 1;
  std::int64_t sizes[most_dims]{}, x_strides[most_dims]{};
  int taps[most_dims]{};
  const std::int32_t* at[most_dims]{};
  const float* weight[most_dims]{};
  std::int64_t elements = 1;
};
void resize(const ResizeShape& shape, Element element, const void* x, void* y, cudaStream_t stream);
/// Like a resize with one tap, for elements of any size; a negative position is padding and reads 0.
void pad(const ResizeShape& shape, std::size_t element_bytes, const void* x, void* y, cudaStream_t stream);
void lrn(std::int64_t batch, std::int64_t channels, std::int64_t inner, int before, int behind, float alpha, float beta,
         float bias, Element element, const void* x, void* y, cudaStream_t stream);

/// Windows over planes of depth x height x width; an average is divided by the taps in range, or by all.
struct PoolShape {
  std::int64_t sizes[3]{1, 1, 1}, outputs[3]{1, 1, 1}, elements = 1;  ///< elements: of y
  int kernel[3]{1, 1, 1}, pads[3]{}, strides[3]{1, 1, 1}, dilations[3]{1, 1, 1};
  bool average = false, include_pad = false;
};
/// Takes integers.
void pool(const PoolShape& shape, Element element, const void* x, void* y, cudaStream_t stream);

/// Windows of a convolution of 8-bit integers: rescale * (sum of (x - x_zero) * (w - w_zero) + bias), at least 0 if
/// `relu`, rounded and saturated to 8 bits; results of 32 bits have a rescale of 1.
struct IntegerWindows {
  std::int64_t sizes[2]{1, 1}, outputs[2]{1, 1};
  int kernel[2]{1, 1}, pads[2]{}, strides[2]{1, 1}, dilations[2]{1, 1};
  std::int32_t x_zero = 0, w_zero = 0;
  float rescale = 1;
  bool relu = false;
};
enum class IntegerResult : std::uint8_t { i8, u8, i32, f32 };
/// Each channel is convolved separately.
struct DepthwiseShape {
  std::int64_t channels = 1, outputs_of_channel = 1;  ///< channels of y; channels of y for one channel of x
  std::int64_t elements = 1;                          ///< elements of y
  IntegerWindows windows{};
};
void depthwise(const DepthwiseShape& shape, Element x_element, Element w_element, IntegerResult result, const void* x,
               const void* w, const void* bias, void* y, cudaStream_t stream);
/// Channels last, four in a word: x is batch x sizes x groups x words, w is groups x channels x kernel x words, y is
/// batch x outputs x groups x channels. Elements of w are signed, and zero points are those of signed numbers, even if
/// x is unsigned. After w, there is a 32-bit number for each result of a pixel, which is added to its sum of products.
struct IntegerConvolutionShape {
  std::int64_t batch = 1, groups = 1, words = 1, channels = 1;  ///< words and channels per group
  IntegerWindows windows{};
};
void integer_convolution(const IntegerConvolutionShape& shape, Element x_element, IntegerResult result, const void* x,
                         const void* w, const void* bias, void* y, cudaStream_t stream);

/// To floats, from floats or integers.
void cast(Element from, Element to, std::int64_t elements, const void* x, void* y, cudaStream_t stream);
/// Scales and zero points: one for all elements, or one for each of `channels` runs of `inner`.
struct QuantizeShape {
  std::int64_t elements = 1, channels = 1, inner = 1;
};
/// y = saturate(round(x / scale) + zero); `from` is a float, `to` has 8 bits.
void quantize(const QuantizeShape& shape, Element from, Element to, const void* x, const void* scale, const void* zero,
              void* y, cudaStream_t stream);
/// Computes scale and zero point from x first, so that [min(x, 0), max(x, 0)] becomes the range of `to`, i8 or u8.
/// `parts`: space for 2 * most_parts numbers.
inline constexpr unsigned most_parts = 1024;
void quantize_dynamic(std::int64_t elements, Element from, Element to, const void* x, void* scale, void* zero, void* y,
                      float* parts, cudaStream_t stream);
/// y = (x - zero) * scale; `from` has 8 bits, `to` is a float.
void dequantize(const QuantizeShape& shape, Element from, Element to, const void* x, const void* scale,
                const void* zero, void* y, cudaStream_t stream);

}  // namespace benanza::cuda
