// SPDX-License-Identifier: Apache-2.0
// Kernels: what each instruction set provides, as function pointers on raw memory; one table is filled by the kernel
// files for each instruction set, and one is chosen at run time. Threads, shapes and operators are the business of the
// files beside this one.
#pragma once

#include <benanza/model/elementwise.hpp>

#include <cstddef>
#include <cstdint>

namespace benanza::native {

using Index = std::int64_t;

/// Element types that arithmetic is done in.
enum class Arithmetic : std::uint8_t { f32, f64, i32, i64, boolean };
inline constexpr std::size_t arithmetic_types = 5;
inline constexpr std::size_t elementwise_fns = static_cast<std::size_t>(ElementwiseFn::sub) + 1;

/// y[i] = fn(x[i]); predicates write bytes.
using UnaryKernel = void (*)(const void* x, void* y, Index n, float alpha, float beta);
/// y[i] = fn(a[i], b[i]); predicates write bytes.
using BinaryKernel = void (*)(const void* a, const void* b, void* y, Index n);
/// Which operand of a binary kernel is one element for the whole run.
enum class Form : std::uint8_t { vectors, scalar_a, scalar_b };
inline constexpr std::size_t forms = 3;

/// Types that casts know; f32 and i64 are the hubs that all others go through.
enum class Stored : std::uint8_t { f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, boolean };
inline constexpr std::size_t stored_types = 13;
using ConvertKernel = void (*)(const void* from, void* to, Index n);

/// Rows of a softmax, normalised along `n`; consecutive.
using RowsKernel = void (*)(const float* x, float* y, Index rows, Index n);
/// The same along axis `n` with `inner` elements between neighbours; columns [begin, end) of one outer index.
using ColumnsKernel = void (*)(const float* x, float* y, Index n, Index inner, Index begin, Index end);

/// Count, mean and sum of squared deviations of a run of elements.
struct Moments {
  double count = 0, mean = 0, m2 = 0;
};

/// Tile of a blocked 2-D transpose: y[j * y_stride + i] = x[i * x_stride + j] for i < rows, j < columns; strides in
/// elements.
using TransposeKernel = void (*)(const void* x, Index x_stride, void* y, Index y_stride, Index rows, Index columns);

/// What a row reduction gives: f32 value, partial results can be combined.
enum class Fold : std::uint8_t { sum, max, min, prod, l1, sum_square };
inline constexpr std::size_t folds = 6;

/// Query heads that share a key head are rows one behind the other: row r is query (first_row + r) % queries of head
/// (first_row + r) / queries.
struct AttentionArguments {
  const float* q = nullptr;            ///< starts at the first head and query
  const float* k = nullptr;            ///< keys x depth, or depth x keys
  const float* v = nullptr;            ///< keys x value_depth
  float* y = nullptr;                  ///< as q
  const float* mask = nullptr;         ///< starts at the first head and query; null: none
  const std::uint8_t* seen = nullptr;  ///< a mask that says which keys are seen, or none
  Index rows = 0, keys = 0, depth = 0, value_depth = 0;
  Index queries = 0;
  Index first_row = 0;
  Index q_head_stride = 0, q_query_stride = 0, k_stride = 0, v_stride = 0, y_head_stride = 0, y_query_stride = 0;
  Index mask_head_stride = 0, mask_query_stride = 0, mask_key_stride = 0;  ///< strides of either mask
  Index past = 0, before = -1, after = -1;                                 ///< as of op::Attention; causal: none after
  bool k_transposed = false;
  float scale = 1;
  float cap = 0;              ///< 0: none
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
  /// The first key that a query sees, and the one behind the last.
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

/// One step in one direction, hidden units of some panels.
struct RecurrentStep {
  const float* h = nullptr;       ///< batch x hidden, of the step before; none: zero
  const float* r = nullptr;       ///< [panel][hidden][gate][lane]
  const float* bias = nullptr;    ///< [panel][gate][lane], the sums of both; of GRU a fourth, r's for the last gate
  const float* from_x = nullptr;  ///< [panel][row][gate][lane], from the first row of this step
  Index from_x_rows = 0;
  float* c = nullptr;  ///< batch x [panel][lane], replaced; of LSTM
  float* y = nullptr;  ///< batch x hidden
  Index batch = 0, hidden = 0;
  Index first_panel = 0, last_panel = 0;
  bool back = false;  ///< from the last panel to the first
};

/// One step back in one direction, hidden units of some panels: first the state's gradient from the next step's gates,
/// then those of this step's.
struct RecurrentBack {
  const float* next = nullptr;    ///< batch rows of the gates' gradients of the step that forward has taken next
  const float* r = nullptr;       ///< [panel][gate and hidden][lane]
  const float* dy = nullptr;      ///< batch x hidden; none: zero
  const float* gates = nullptr;   ///< batch rows, as forward has kept them
  const float* state = nullptr;   ///< batch x hidden, this step's: c of LSTM, y of RNN
  const float* before = nullptr;  ///< batch x hidden, of the step before: c of LSTM, y of GRU; none: zero
  float* dh = nullptr;      ///< batch x [panel][lane]: the state's gradient that does not come through r; replaced
  float* dc = nullptr;      ///< batch x [panel][lane], replaced; of LSTM
  float* dgates = nullptr;  ///< batch rows; none: there are no gates in front, dh becomes the whole gradient
  Index batch = 0, hidden = 0, row = 0;  ///< row: from one image to the next in gates and their gradients
  Index first_panel = 0, last_panel = 0;
};

/// Rows of 8-bit integers, packed into units of 32 bits, one row behind the other; behind each row the term that all
/// of its results get. An element is stored as `value - subtract`.
struct IntegerRows {
  const std::uint8_t* x = nullptr;
  Index row_stride = 0, stride = 1;  ///< between rows, and between the elements of one
  Index rows = 0, depth = 0;
  bool has_sign = false;
  std::int32_t subtract = 0;
  std::int32_t zero = 0, other_zero = 0;  ///< zero points as they are stored, of these and of the columns
  std::int32_t* packed = nullptr;         ///< rows x (units + 1)
};
/// A panel of columns, likewise; behind the units the term of each column.
struct IntegerColumns {
  const std::uint8_t* x = nullptr;  ///< depth x columns, of which all can be read
  Index stride = 0;                 ///< between rows
  Index depth = 0;
  bool has_sign = false;
  std::int32_t subtract = 0;
  std::int32_t other_zero = 0;     ///< zero point of the rows
  std::int32_t* packed = nullptr;  ///< (units + 1) x columns
};
/// Products of packed rows with a panel, terms included. All sums are exact modulo 2^32.
struct IntegerTile {
  const std::int32_t *rows = nullptr, *columns = nullptr;
  Index row_count = 0, units = 0;
  std::int32_t* y = nullptr;  ///< row_count x y_stride, whole panels wide
  Index y_stride = 0;
};
struct IntegerProduct {
  Index elements = 0;  ///< number in a unit: 4 bytes or 2 words; 0: not on this processor
  Index columns = 0;   ///< number in a panel
  void (*pack_rows)(const IntegerRows& a) = nullptr;
  void (*pack_columns)(const IntegerColumns& a) = nullptr;
  void (*multiply)(const IntegerTile& a) = nullptr;
};

/// Where a tile of products takes its factors from. A tile has some positions and some vectors; each of its sums is
/// that of a position and a lane.
enum class TileKind : std::uint8_t {
  blocked,      ///< elements of x in blocks of `lanes` channels; vectors of w
  planar,       ///< elements of x where positions are neighbours; vectors of w
  rows,         ///< elements of rows of x, `x_position` apart; vectors of w
  depthwise,    ///< vectors of x in blocks of channels, each lane with its own weight: one vector of w
  grouped,      ///< the same where `inner` channels make a group: each lane takes those of its group in turn
  lines,        ///< vectors of x along a line; elements of w: positions are channels
  rows_4_bits,  ///< as `rows`; w is not of floats, but as `expand` takes elements of 4 bits
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
  Index last = 0;                 ///< lanes of the last vector that are there, 1 ... `lanes`
  bool more = false;              ///< y holds sums already
  const float* bias = nullptr;    ///< one for each lane, of `lines` for each position; or none
  const float* addend = nullptr;  ///< lies like y; or none
  float least = -__builtin_inff(), most = __builtin_inff();  ///< bounds of the result
};
using TileKernel = void (*)(const TileArguments& a);

/// Whether `fast_window` has the window: 2 columns by steps of 2, or 3 by steps of 1 or 2.
constexpr bool window_is_fast(Index rows, Index taps, Index stride) {
  return rows <= 3 && ((taps == 2 && stride == 2) || (taps == 3 && (stride == 1 || stride == 2)));
}

/// A position that `max_into` has not noted.
inline constexpr std::int32_t nothing_taken = -2147483647 - 1;

/// What an optimizer's step goes by. Weights are multiplied by `keep`, which is below 1 where they decay.
struct OptimizerNumbers {
  float rate = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  float correction1 = 1, correction2 = 1;  ///< what the moments are divided by
  float keep = 1;
};

struct Kernels {
  Index lanes = 0;  ///< floats of a vector
  /// By kind, vectors - 1 and positions - 1; null where the sums would not fit the registers, all on narrow machines.
  TileKernel tile[tile_kinds][most_tile_vectors][most_tile_positions]{};
  /// y = `before` zeros, `count` elements of x a `stride` apart, `after` zeros; elements are floats, or vectors of
  /// them.
  void (*frame[2])(const float* x, Index stride, Index before, Index count, Index after, float* y){};
  UnaryKernel unary[arithmetic_types][elementwise_fns]{};
  BinaryKernel binary[arithmetic_types][forms][elementwise_fns]{};
  /// dx[i] = dy[i] times the derivative at v[i], of f32; null where there is none.
  void (*unary_gradient[elementwise_fns])(const void* dy, const void* v, void* dx, Index n, float alpha, float beta){};
  BinaryKernel add_relu[forms]{};  ///< max(a + b, 0) of f32
  /// y = x * scale + shift; in the second form no less than 0.
  void (*affine[2])(const float* x, const float* scale, const float* shift, float* y, Index n){};
  void (*affine_scalar[2])(const float* x, float scale, float shift, float* y, Index n){};
  /// y[i] = condition[i] ? a[i] : b[i] by element size 1, 2, 4, 8; strides of 0 repeat one element.
  void (*where[4])(const std::uint8_t* condition, const void* a, Index a_stride, const void* b, Index b_stride, void* y,
                   Index n){};

  ConvertKernel to_f32[stored_types]{}, from_f32[stored_types]{}, to_i64[stored_types]{}, from_i64[stored_types]{};
  /// Elements without sign of 2, 4 and 8 bits. A vector of bytes holds as many vectors of them as fit, the first one in
  /// the low bits; n is a number of such groups.
  void (*expand[3])(const std::uint8_t* x, float* y, Index n){};
  /// y = saturate(round(x / scale) + zero point), by signedness of the result.
  void (*quantize[2])(const float* x, void* y, Index n, float scale, std::int32_t zero_point){};
  void (*quantize_each[2])(const float* x, void* y, Index n, const float* scale, const void* zero_point){};
  void (*dequantize[2])(const void* x, float* y, Index n, float scale, std::int32_t zero_point){};
  void (*dequantize_each[2])(const void* x, float* y, Index n, const float* scale, const void* zero_point){};

  void (*copy)(const void* from, void* to, std::size_t bytes) = nullptr;
  void (*stream)(const void* from, void* to, std::size_t bytes) = nullptr;  ///< past the caches
  void (*fence)() = nullptr;                                                ///< behind the last `stream` of a thread
  void (*fill[5])(const void* element, void* to, Index n){};                ///< by element size 1, 2, 4, 8, 16
  /// y[i] = x[i * stride], by element size.
  void (*strided[5])(const void* x, Index stride, void* y, Index n){};
  TransposeKernel transpose[5]{},
      transpose_stream[5]{};  ///< tiles of at most 16 KiB in the second form; fence as above
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
  void (*moments)(const float* x, Index n, Moments& moments) = nullptr;  ///< adds a run to what is there
  /// y = x * (bias + factor * sum of squares of `size` neighbours along the channels)^-beta, columns [begin, end) of
  /// one image.
  void (*lrn)(const float* x, float* y, Index channels, Index inner, Index size, float beta, float factor, float bias,
              Index begin, Index end) = nullptr;

  /// Adds the sums of dy and of dy (x - mean) of a run, dy times the scale where there is one.
  void (*norm_gradient_sums)(const float* dy, const float* x, const float* scale, float mean, Index n,
                             double* sums) = nullptr;
  /// dx = dy scale factor + x slope + shift; without a scale 1.
  void (*norm_gradient)(const float* dy, const float* x, const float* scale, float factor, float slope, float shift,
                        float* dx, Index n) = nullptr;
  /// dscale += dy (x - mean) factor; dbias += dy, or none.
  void (*norm_gradient_weights)(const float* dy, const float* x, float mean, float factor, float* dscale, float* dbias,
                                Index n) = nullptr;
  /// By op::OptimizerRule; `a` and `b` are the states.
  void (*optimizer[4])(float* w, const float* dw, float* a, float* b, Index n, const OptimizerNumbers& by){};

  double (*fold[folds])(const float* x, Index n){};  ///< folds a run
  /// accumulator[i] = fold of it and of x[r * stride + i], for `rows` rows.
  void (*fold_rows[folds])(float* accumulator, const float* x, Index stride, Index rows, Index n){};
  double (*sum_of_exp)(const float* x, Index n, float shift) = nullptr;  ///< sums exp(x - shift)
  void (*add_exp)(float* accumulator, const float* x, const float* shift, Index n) = nullptr;
  Index (*find)(const float* x, Index n, float value) = nullptr;        ///< first position that holds value; n if none
  Index (*find_above)(const float* x, Index n, float limit) = nullptr;  ///< first position above limit; n if none
  Index (*find_below)(const float* x, Index n, float limit) = nullptr;
  /// Where x is better than best (above or below it), takes it and notes `position`.
  void (*arg_into[2])(float* best, std::int64_t* at, const float* x, Index n, std::int64_t position){};
  /// Where x is above best, or nothing was taken yet (`at` is `nothing_taken`), takes it and notes `position`.
  void (*max_into)(float* best, std::int32_t* at, const float* x, Index n, std::int32_t position) = nullptr;
  /// y[i] = first + at[i] + i * step.
  void (*positions)(const std::int32_t* at, Index first, Index step, std::int64_t* y, Index n) = nullptr;

  /// sums[t] += dy[i] * x[i * step + t * tap] over i < n, for t < taps: all are vectors, steps count floats.
  void (*window_products)(const float* x, Index step, Index tap, const float* dy, Index n, float* sums,
                          Index taps) = nullptr;

  /// y[i] = max / + over k < taps of x[i * stride + k * dilation].
  void (*slide_max)(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) = nullptr;
  void (*slide_sum)(const float* x, float* y, Index n, Index taps, Index stride, Index dilation) = nullptr;
  /// y[i] is the maximum, or the sum times scale[i], over a window of vectors. The window has `rows` rows (1 to 3),
  /// which lie `row` floats apart, and `taps` columns from i * stride - pad on. Columns outside of x do not count.
  /// `window_is_fast` says which windows are allowed.
  void (*fast_window[2])(const float* x, Index row, Index rows, Index columns, Index pad, float* y, Index n, Index taps,
                         Index stride, const float* scale){};
  /// The maximum or the sum of `rows` rows that lie `stride` apart; n is a multiple of the lanes.
  void (*fold_lines[2])(const float* x, Index stride, Index rows, float* y, Index n){};
  /// slide_max and slide_sum over vectors; sums are multiplied by scale[i].
  void (*slide_blocks[2])(const float* x, float* y, Index n, Index taps, Index stride, Index dilation,
                          const float* scale){};
  void (*scale_add)(float* accumulator, const float* x, float factor,
                    Index n) = nullptr;  ///< accumulator += factor * x
  void (*multiply_add)(float* accumulator, const float* a, const float* b,
                       Index n) = nullptr;  ///< accumulator += a * b
  float (*dot)(const float* a, const float* b, Index n) = nullptr;
  /// Turns the pairs of a row: an element of each half, or neighbours. The angle of a pair's second element lies
  /// `second` behind that of its first one; 0 where both have the same.
  void (*rotary[2])(const float* x, const float* cosines, const float* sines, float* y, Index pairs, Index second){};
  /// y[i] = sum over taps t of weight[t * n + i] * x[index[t * n + i]].
  void (*interpolate)(const float* x, const std::int32_t* index, const float* weight, Index taps, float* y,
                      Index n) = nullptr;

  Index (*attention_packed_floats)(Index keys, Index depth) = nullptr;
  Index (*attention_scratch_floats)(Index depth, Index value_depth) = nullptr;
  void (*attention_pack)(const AttentionArguments& a) =
      nullptr;  ///< brings k into the blocked form that attention reads
  void (*attention)(const AttentionArguments& a) = nullptr;
  void (*attention_few_rows)(const AttentionArguments& a) = nullptr;  ///< for decoding: reads k where it lies

  // RNN, GRU (linear before its reset), LSTM.
  void (*recurrent_input[3])(const RecurrentInput& a){};
  void (*recurrent_step[3])(const RecurrentStep& a){};
  void (*recurrent_back[3])(const RecurrentBack& a){};

  /// Words that have the zero point taken off (16 x 16 bits), and bytes, unsigned columns times signed rows.
  IntegerProduct integer_words{}, integer_bytes{};
};

}  // namespace benanza::native
