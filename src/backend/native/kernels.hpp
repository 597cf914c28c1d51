// SPDX-License-Identifier: Apache-2.0
// Kernels: the functions that each instruction set provides, as function pointers on raw memory. The kernel files fill
// one table for each instruction set, and one table is chosen at run time. Threads, shapes and operators are handled by
// the other files of this folder.
#pragma once

#include <benanza/model/elementwise.hpp>

#include <cstddef>
#include <cstdint>

namespace benanza::native {

using Index = std::int64_t;

/// Element types for arithmetic.
enum class Arithmetic : std::uint8_t { f32, f64, i32, i64, boolean };
inline constexpr std::size_t arithmetic_types = 5;
inline constexpr std::size_t elementwise_fns = static_cast<std::size_t>(ElementwiseFn::sub) + 1;

/// y[i] = fn(x[i]); predicates write bytes.
using UnaryKernel = void (*)(const void* x, void* y, Index n, float alpha, float beta);
/// y[i] = fn(a[i], b[i]); predicates write bytes.
using BinaryKernel = void (*)(const void* a, const void* b, void* y, Index n);
/// Which operand of a binary kernel is a single element for the whole run.
enum class Form : std::uint8_t { vectors, scalar_a, scalar_b };
inline constexpr std::size_t forms = 3;

/// Types that casts support; f32 and i64 are the hubs through which all others are converted.
enum class Stored : std::uint8_t { f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, boolean };
inline constexpr std::size_t stored_types = 13;
using ConvertKernel = void (*)(const void* from, void* to, Index n);

/// Consecutive rows of a softmax, normalised along `n`.
using RowsKernel = void (*)(const float* x, float* y, Index rows, Index n);
/// The same along axis `n`, whose elements are `inner` apart; columns [begin, end) of one outer index.
using ColumnsKernel = void (*)(const float* x, float* y, Index n, Index inner, Index begin, Index end);

/// Count, mean and sum of squared deviations of a run of elements.
struct Moments {
  double count = 0, mean = 0, m2 = 0;
};

/// Tile of a blocked 2-D transpose: y[j * y_stride + i] = x[i * x_stride + j] for i < rows, j < columns; strides in
/// elements.
using TransposeKernel = void (*)(const void* x, Index x_stride, void* y, Index y_stride, Index rows, Index columns);

/// The functions of a row reduction of f32 values; partial results can be combined.
enum class Fold : std::uint8_t { sum, max, min, prod, l1, sum_square };
inline constexpr std::size_t folds = 6;

/// Query heads that share a key head are consecutive rows: row r is query (first_row + r) % queries of head (first_row
/// + r) / queries.
struct AttentionArguments {
  const float* q = nullptr;            ///< starts at the first head and query
  const float* k = nullptr;            ///< keys x depth, or depth x keys
  const float* v = nullptr;            ///< keys x value_depth
  float* y = nullptr;                  ///< as q
  const float* mask = nullptr;         ///< starts at the first head and query; may be null
  const std::uint8_t* seen = nullptr;  ///< a mask of the keys that are seen; may be null
  Index rows = 0, keys = 0, depth = 0, value_depth = 0;
  Index queries = 0;
  Index first_row = 0;
  Index q_head_stride = 0, q_query_stride = 0, k_stride = 0, v_stride = 0, y_head_stride = 0, y_query_stride = 0;
  Index mask_head_stride = 0, mask_query_stride = 0, mask_key_stride = 0;  ///< strides of either mask
  Index past = 0, before = -1, after = -1;                                 ///< as in op::Attention; causal: none after
  bool k_transposed = false;
  float scale = 1;
  float cap = 0;              ///< 0 if there is none
  float* packed_k = nullptr;  ///< filled by attention_pack
  float* scratch = nullptr;   ///< attention_scratch() floats

  [[nodiscard]] Index query_of(Index row) const { return (first_row + row) % queries; }
  [[nodiscard]] Index head_of(Index row) const { return (first_row + row) / queries; }
  [[nodiscard]] const float* q_of(Index row) const {
    return q + head_of(row) * q_head_stride + query_of(row) * q_query_stride;
  }
  [[nodiscard]] float* y_of(Index row) const {
    return y + head_of(row) * y_head_stride + query_of(row) * y_query_stride;
  }
  /// The first key that a query sees, and the one after the last.
  [[nodiscard]] Index first_key(Index query) const {
    const Index first = past + query - before;
    return before < 0 || first < 0 ? 0 : first < keys ? first : keys;
  }
  [[nodiscard]] Index last_key(Index query) const {
    const Index last = past + query + after + 1;
    return after < 0 || last > keys ? keys : last;
  }
};

/// Products of rows x units with the gates of the hidden units of some panels: w[panel][unit][gate][lane],
/// y[panel][row][gate][lane].
struct RecurrentInput {
  const float* x = nullptr;
  const float* w = nullptr;
  float* y = nullptr;
  Index rows = 0, units = 0;
  Index first_panel = 0, last_panel = 0;
};

/// One step in one direction, for the hidden units of some panels.
struct RecurrentStep {
  const float* h = nullptr;       ///< batch x hidden, of the previous step; null for zero
  const float* r = nullptr;       ///< [panel][hidden][gate][lane]
  const float* bias = nullptr;    ///< [panel][gate][lane], sums of both; for GRU a fourth: that of r for the last gate
  const float* from_x = nullptr;  ///< [panel][row][gate][lane], from the first row of this step
  Index from_x_rows = 0;
  float* c = nullptr;  ///< batch x [panel][lane], replaced; only for LSTM
  float* y = nullptr;  ///< batch x hidden
  Index batch = 0, hidden = 0;
  Index first_panel = 0, last_panel = 0;
  bool back = false;  ///< from the last panel to the first
};

/// One step back in one direction, for the hidden units of some panels: first the state's gradient from the next step's
/// gates, then the gradients of this step's gates.
struct RecurrentBack {
  const float* next = nullptr;    ///< batch rows of gradients of the gates of the step after this one in forward order
  const float* r = nullptr;       ///< [panel][gate and hidden][lane]
  const float* dy = nullptr;      ///< batch x hidden; null for zero
  const float* gates = nullptr;   ///< batch rows, as saved by the forward pass
  const float* state = nullptr;   ///< batch x hidden, of this step: c of LSTM, y of RNN
  const float* before = nullptr;  ///< batch x hidden, of the previous step: c of LSTM, y of GRU; null for zero
  float* dh = nullptr;            ///< batch x [panel][lane]: the part of the state's gradient that bypasses r; replaced
  float* dc = nullptr;            ///< batch x [panel][lane], replaced; only for LSTM
  float* dgates = nullptr;        ///< batch rows; null before the first step, where dh becomes the whole gradient
  Index batch = 0, hidden = 0, row = 0;  ///< row: distance between images in gates and their gradients
  Index first_panel = 0, last_panel = 0;
};

/// Rows of 8-bit integers, packed into units of 32 bits, one row after another; each row is followed by the term that
/// is added to all of its results. An element is stored as `value - subtract`.
struct IntegerRows {
  const std::uint8_t* x = nullptr;
  Index row_stride = 0, stride = 1;  ///< between rows, and between the elements of one row
  Index rows = 0, depth = 0;
  bool has_sign = false;
  std::int32_t subtract = 0;
  std::int32_t zero = 0, other_zero = 0;  ///< stored zero points, of these and of the columns
  std::int32_t* packed = nullptr;         ///< rows x (units + 1)
};
/// A panel of columns, packed in the same way; the units are followed by the term of each column.
struct IntegerColumns {
  const std::uint8_t* x = nullptr;  ///< depth x columns, all of them readable
  Index stride = 0;                 ///< between rows
  Index depth = 0;
  bool has_sign = false;
  std::int32_t subtract = 0;
  std::int32_t other_zero = 0;     ///< zero point of the rows
  std::int32_t* packed = nullptr;  ///< (units + 1) x columns
};
/// Products of packed rows with a panel, including the terms. All sums are exact modulo 2^32.
struct IntegerTile {
  const std::int32_t *rows = nullptr, *columns = nullptr;
  Index row_count = 0, units = 0;
  std::int32_t* y = nullptr;  ///< row_count x y_stride, whole panels wide
  Index y_stride = 0;
};
struct IntegerProduct {
  Index elements = 0;  ///< elements in a unit: 4 bytes or 2 words; 0 if this processor lacks it
  Index columns = 0;   ///< columns in a panel
  void (*pack_rows)(const IntegerRows& a) = nullptr;
  void (*pack_columns)(const IntegerColumns& a) = nullptr;
  void (*multiply)(const IntegerTile& a) = nullptr;
};

/// The source of a tile's factors. A tile has some positions and some vectors; each of its sums belongs to a position
/// and a lane.
enum class TileKind : std::uint8_t {
  blocked,      ///< elements of x in blocks of `lanes` channels; vectors of w
  planar,       ///< elements of x, with adjacent positions; vectors of w
  rows,         ///< elements of rows of x, `x_position` apart; vectors of w
  depthwise,    ///< vectors of x in blocks of channels, each lane with its own weight: one vector of w
  grouped,      ///< the same for groups of `inner` channels: each lane takes those of its group in turn
  lines,        ///< vectors of x along a line; elements of w: positions are channels
  rows_4_bits,  ///< as `rows`, but w has 4-bit elements in the layout of `expand` instead of floats
};
inline constexpr std::size_t tile_kinds = 7, most_tile_vectors = 4, most_tile_positions = 14;

/// Sums over blocks, window rows, taps and inner channels of x times w. Strides count floats.
struct TileArguments {
  const float* x = nullptr;
  Index x_block = 0, x_row = 0, x_position = 0;
  const Index* taps = nullptr;  ///< offsets of the taps of a window row in x
  Index blocks = 1, rows = 1, first_tap = 0, last_tap = 1, inner = 1;
  const float* w = nullptr;  ///< at row 0, tap 0
  Index w_block = 0, w_row = 0, w_tap = 0;
  float* y = nullptr;
  Index y_position = 0, y_vector = 0;
  Index last = 0;                 ///< valid lanes of the last vector, 1 ... `lanes`
  bool more = false;              ///< y already holds sums
  const float* bias = nullptr;    ///< one for each lane, or for each position of `lines`; may be null
  const float* addend = nullptr;  ///< in the layout of y; may be null
  float least = -__builtin_inff(), most = __builtin_inff();  ///< bounds of the result
};
using TileKernel = void (*)(const TileArguments& a);

/// A patch of x, transformed by Winograd's algorithm: a tile of n x n results with 3x3 taps depends on (n + 2)^2
/// elements, and on as many points. All are vectors of channels. Strides and offsets count floats.
struct WinogradPatch {
  const float* x = nullptr;
  const Index* elements = nullptr;  ///< offsets of the patch in a block of x, row by row; negative: padding
  Index blocks = 1, x_block = 0;
  float* points = nullptr;
  Index point = 0, points_block = 0;  ///< distance of the points, and of the blocks of a point
};
/// A tile of y from the sums of products at each point.
struct WinogradTile {
  const float* sums = nullptr;
  Index point = 0, sums_vector = 0;  ///< distance of the points, and of the vectors of a point
  const Index* results = nullptr;    ///< offsets of the tile in y, row by row; negative: outside y
  float* y = nullptr;
  Index vectors = 1, y_vector = 0;
  const float* bias = nullptr;                               ///< a vector for each of `vectors`; may be null
  const float* addend = nullptr;                             ///< in the layout of y; may be null
  float least = -__builtin_inff(), most = __builtin_inff();  ///< bounds of the result
};

/// Whether `fast_window` supports the window: 2 columns with a stride of 2, or 3 columns with a stride of 1 or 2.
constexpr bool window_is_fast(Index rows, Index taps, Index stride) {
  return rows <= 3 && ((taps == 2 && stride == 2) || (taps == 3 && (stride == 1 || stride == 2)));
}

/// The position if `max_into` has not recorded one.
inline constexpr std::int32_t nothing_taken = -2147483647 - 1;

/// The parameters of an optimizer's step. Weights are multiplied by `keep`, which is below 1 for weight decay.
struct OptimizerNumbers {
  float rate = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  float correction1 = 1, correction2 = 1;  ///< divisors of the moments
  float keep = 1;
};

struct Kernels {
  Index lanes = 0;  ///< floats of a vector
  /// Indexed by kind, vectors - 1 and positions - 1; null if the sums would not fit the registers, and always on narrow
  /// machines.
  TileKernel tile[tile_kinds][most_tile_vectors][most_tile_positions]{};
  /// y = `before` zeros, `count` elements of x with distance `stride`, `after` zeros; elements are floats, or vectors
  /// of floats.
  void (*frame[2])(const float* x, Index stride, Index before, Index count, Index after, float* y){};
  /// For tiles of 2 x 2 and 4 x 4 results.
  void (*winograd_patch[2])(const WinogradPatch& a){};
  void (*winograd_tile[2])(const WinogradTile& a){};
  UnaryKernel unary[arithmetic_types][elementwise_fns]{};
  BinaryKernel binary[arithmetic_types][forms][elementwise_fns]{};
  /// dx[i] = dy[i] times the derivative at v[i], for f32; null if there is none.
  void (*unary_gradient[elementwise_fns])(const void* dy, const void* v, void* dx, Index n, float alpha, float beta){};
  BinaryKernel add_relu[forms]{};  ///< max(a + b, 0) for f32
  /// y = x * scale + shift; the second form is at least 0.
  void (*affine[2])(const float* x, const float* scale, const float* shift, float* y, Index n){};
  void (*affine_scalar[2])(const float* x, float scale, float shift, float* y, Index n){};
  /// y = a * b + c, a * b - c and c - a * b. By whether b and whether c is a single element for the whole run.
  void (*product_sum[3][2][2])(const float* a, const float* b, const float* c, float* y, Index n){};
  /// y[i] = condition[i] ? a[i] : b[i], by element size 1, 2, 4, 8; strides of 0 repeat one element.
  void (*where[4])(const std::uint8_t* condition, const void* a, Index a_stride, const void* b, Index b_stride, void* y,
                   Index n){};

  ConvertKernel to_f32[stored_types]{}, from_f32[stored_types]{}, to_i64[stored_types]{}, from_i64[stored_types]{};
  /// Unsigned elements of 2, 4 and 8 bits. A vector of bytes holds as many vectors of them as fit, the first one in the
  /// low bits; n is a whole number of such groups.
  void (*expand[3])(const std::uint8_t* x, float* y, Index n){};
  /// y = saturate(round(x / scale) + zero point), indexed by signedness of the result.
  void (*quantize[2])(const float* x, void* y, Index n, float scale, std::int32_t zero_point){};
  void (*quantize_each[2])(const float* x, void* y, Index n, const float* scale, const void* zero_point){};
  void (*dequantize[2])(const void* x, float* y, Index n, float scale, std::int32_t zero_point){};
  void (*dequantize_each[2])(const void* x, float* y, Index n, const float* scale, const void* zero_point){};

  void (*copy)(const void* from, void* to, std::size_t bytes) = nullptr;
  void (*stream)(const void* from, void* to, std::size_t bytes) = nullptr;  ///< bypasses the caches
  void (*fence)() = nullptr;                                                ///< after the last `stream` of a thread
  void (*fill[5])(const void* element, void* to, Index n){};                ///< by element size 1, 2, 4, 8, 16
  /// y[i] = x[i * stride], by element size.
  void (*strided[5])(const void* x, Index stride, void* y, Index n){};
  TransposeKernel transpose[5]{}, transpose_stream[5]{};  ///< tiles of at most 16 KiB in the second form; needs `fence`
  /// y[i] = x[index[i]]; negative indices count from `size`. By element size and width of the indices (i32, i64).
  void (*gather[5][2])(const void* x, Index size, const void* index, void* y, Index n){};
  /// y[i] = x[index[i] * stride + i].
  void (*gather_columns[5][2])(const void* x, Index size, Index stride, const void* index, void* y, Index n){};

  RowsKernel softmax = nullptr, log_softmax = nullptr;
  ColumnsKernel softmax_columns = nullptr, log_softmax_columns = nullptr;
  void (*layer_norm)(const float* x, const float* scale, const float* bias, float* y, Index rows, Index n,
                     float epsilon) = nullptr;
  void (*rms_norm)(const float* x, const float* scale, const float* bias, float* y, Index rows, Index n,
                   float epsilon) = nullptr;
  void (*moments)(const float* x, Index n, Moments& moments) = nullptr;  ///< adds a run to the moments
  /// y = (x - mean) * scale + bias: exact where x is near the mean, however far both are from zero.
  void (*normalize_run)(const float* x, float* y, Index n, float mean, float scale, float bias) = nullptr;
  /// y = x * (bias + factor * sum of squares of `size` adjacent channels)^-beta, columns [begin, end) of one image.
  void (*lrn)(const float* x, float* y, Index channels, Index inner, Index size, float beta, float factor, float bias,
              Index begin, Index end) = nullptr;

  /// Adds the sums of dy and of dy (x - mean) of a run, with dy multiplied by the scale if there is one.
  void (*norm_gradient_sums)(const float* dy, const float* x, const float* scale, float mean, Index n,
                             double* sums) = nullptr;
  /// dx = dy scale factor + x slope + shift; without a scale, 1 is used.
  void (*norm_gradient)(const float* dy, const float* x, const float* scale, float factor, float slope, float shift,
                        float* dx, Index n) = nullptr;
  /// dscale += dy (x - mean) factor; dbias += dy, unless null.
  void (*norm_gradient_weights)(const float* dy, const float* x, float mean, float factor, float* dscale, float* dbias,
                                Index n) = nullptr;
  /// Indexed by op::OptimizerRule; `a` and `b` are the states.
  void (*optimizer[4])(float* w, const float* dw, float* a, float* b, Index n, const OptimizerNumbers& by){};

  double (*fold[folds])(const float* x, Index n){};  ///< folds a run
  double (*sum_of_products)(const float* a, const float* b, Index n) = nullptr;
  /// accumulator[i] = fold of accumulator[i] and x[r * stride + i], for `rows` rows.
  void (*fold_rows[folds])(float* accumulator, const float* x, Index stride, Index rows, Index n){};
  double (*sum_of_exp)(const float* x, Index n, float shift) = nullptr;  ///< sums exp(x - shift)
  void (*add_exp)(float* accumulator, const float* x, const float* shift, Index n) = nullptr;
  Index (*find)(const float* x, Index n, float value) = nullptr;        ///< first position that holds value; n if none
  Index (*find_above)(const float* x, Index n, float limit) = nullptr;  ///< first position above limit; n if none
  Index (*find_below)(const float* x, Index n, float limit) = nullptr;
  /// If x is better than best (above or below it), stores it and records `position`.
  void (*arg_into[2])(float* best, std::int64_t* at, const float* x, Index n, std::int64_t position){};
  /// If x is above best, or nothing was taken yet (`at` is `nothing_taken`), stores it and records `position`.
  void (*max_into)(float* best, std::int32_t* at, const float* x, Index n, std::int32_t position) = nullptr;
  /// y[i] = first + at[i] + i * step.
  void (*positions)(const std::int32_t* at, Index first, Index step, std::int64_t* y, Index n) = nullptr;

  /// sums[t] += dy[i] * x[i * step + t * tap] over i < n, for t < taps. All are vectors; steps are in floats.
  void (*window_products)(const float* x, Index step, Index tap, const float* dy, Index n, float* sums,
                          Index taps) = nullptr;

  /// y[i] = max / + over k < taps of x[i * stride + k * dilation].
  void (*slide_max)(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) = nullptr;
  void (*slide_sum)(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) = nullptr;
  /// y[i] is the maximum, or the sum times scale[i], over a window of vectors. The window has `rows` rows (1 to 3) with
  /// a distance of `row` floats, and `taps` columns from i * stride - pad on. Columns outside x do not count.
  /// `window_is_fast` reports which windows are allowed.
  void (*fast_window[2])(const float* x, Index row, Index rows, Index columns, Index pad, float* y, Index n, Index taps,
                         Index stride, const float* scale){};
  /// The maximum or the sum of `rows` rows with distance `stride`; n is a multiple of the lanes.
  void (*fold_lines[2])(const float* x, Index stride, Index rows, float* y, Index n){};
  /// slide_max and slide_sum over vectors; sums are multiplied by scale[i].
  void (*slide_blocks[2])(const float* x, float* y, Index n, Index taps, Index stride, Index dilation,
                          const float* scale){};
  void (*scale_add)(float* accumulator, const float* x, float factor,
                    Index n) = nullptr;  ///< accumulator += factor * x
  void (*multiply_add)(float* accumulator, const float* a, const float* b,
                       Index n) = nullptr;  ///< accumulator += a * b
  float (*dot)(const float* a, const float* b, Index n) = nullptr;
  /// Rotates the pairs of a row: an element of each half, or adjacent elements. The angle of a pair's second element is
  /// `second` after the angle of the first; 0 if both share it.
  void (*rotary[2])(const float* x, const float* cosines, const float* sines, float* y, Index pairs, Index second){};
  /// y[i] = sum over taps t of weight[t * n + i] * x[index[t * n + i]].
  void (*interpolate)(const float* x, const std::int32_t* index, const float* weight, Index taps, float* y,
                      Index n) = nullptr;

  Index (*attention_packed_floats)(Index keys, Index depth) = nullptr;
  Index (*attention_scratch_floats)(Index depth, Index value_depth) = nullptr;
  void (*attention_pack)(const AttentionArguments& a) =
      nullptr;  ///< packs k into the blocked form that attention reads
  void (*attention)(const AttentionArguments& a) = nullptr;
  void (*attention_few_rows)(const AttentionArguments& a) = nullptr;  ///< for decoding: reads k in place

  // RNN, GRU (linear before its reset), LSTM.
  void (*recurrent_input[3])(const RecurrentInput& a){};
  void (*recurrent_step[3])(const RecurrentStep& a){};
  void (*recurrent_back[3])(const RecurrentBack& a){};

  /// Words with the zero point subtracted (16 x 16 bits), and bytes, unsigned columns times signed rows.
  IntegerProduct integer_words{}, integer_bytes{};
};

}  // namespace benanza::native
