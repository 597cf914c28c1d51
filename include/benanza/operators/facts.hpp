// SPDX-License-Identifier: Apache-2.0
// OperatorFacts: what is true of every node of an ONNX operator. The files in detail/ have a row for each
// operator; code that needs a fact asks for it (operators/lookup.hpp) and does not compare names. What a row leaves out
// is not certain.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace benanza {

/// What an input is to its operator.
enum class InputRole : std::uint8_t {
  chosen,   ///< the data of other inputs choose the elements that are read
  size,     ///< only its size and type are read
  data,     ///< all of it is read
  places,   ///< data; positions in the first input, as a fraction of its size
  indices,  ///< data; positions along axes of the first input
  setting,  ///< a number or a list that says what is computed: axes, bounds, scales
  axis,     ///< a setting; an axis of the first input
  divisor,  ///< a setting by which sizes are divided
  target,   ///< a setting with a number for each axis of the result
};

/// What each input is; the last one named stands for all further ones. If none is named, nothing is certain.
class InputRoles {
 public:
  constexpr InputRoles() = default;
  constexpr InputRoles(std::initializer_list<InputRole> all) {
    std::size_t next = 0;
    for (const InputRole each : all) all_.at(next++) = each;
    while (next > 0 && next < all_.size()) {
      all_[next] = all_[next - 1];
      ++next;
    }
  }
  [[nodiscard]] constexpr InputRole operator[](std::size_t i) const { return all_[std::min(i, all_.size() - 1)]; }

 private:
  std::array<InputRole, 12> all_{};
};

/// What an operator does that only moves elements of its first input.
enum class Moves : std::uint8_t {
  nothing,      ///< it computes, or moves elements of several inputs
  unchanged,    ///< the result is the input
  converted,    ///< the same elements in another type
  shape,        ///< the same elements in the same order
  permutation,  ///< each element once
  repetition,   ///< each element at least once
  selection,    ///< some of the elements
};

enum class Trait : std::uint8_t {
  random,           ///< draws new numbers each time
  commutative,      ///< the order of its inputs does not matter
  idempotent,       ///< if all inputs (but a condition) are one tensor, the result is this tensor
  broadcasts,       ///< its inputs broadcast to the result
  keeps_zero,       ///< element by element; the result is 0 where the first input is 0
  makes_known,      ///< parts of the result are known, whatever the inputs are
  sums,             ///< an input of 0 adds nothing to the result
  picks,            ///< one of several equal inputs is sufficient
  whole_by_whole,   ///< all of the result needs all of each input, if nothing is known of them
  few_operations,   ///< bytes determine its cost: it moves, compares, counts or draws elements
  sized_by_data,    ///< the data determine the size of the result
  keeps_cache,      ///< results after the first are caches that it may update in place
  recurrent,        ///< repeats a cell over a sequence
  weights,          ///< inputs after the first are weights and biases
  normalizes,       ///< scales after it has divided by statistics
  strided,          ///< the result is the first input's memory, read with other strides
  scalar_settings,  ///< a constant of one element is a setting, and no parameter
  reads_one_bit,    ///< of one input (the operand of forward, the first of others) only a sign or a mask
  as_layer,         ///< com.microsoft: computes exactly what its layer describes
};

class Traits {
 public:
  constexpr Traits() = default;
  constexpr Traits(std::initializer_list<Trait> all) {
    for (const Trait each : all) bits_ |= bit(each);
  }
  [[nodiscard]] constexpr bool contains(Trait trait) const { return (bits_ & bit(trait)) != 0; }

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Trait trait) { return 1U << static_cast<unsigned>(trait); }
  std::uint32_t bits_ = 0;
};

/// The rule for the types and shapes of the results; src/onnx/rules_*.cpp has the functions.
enum class ShapeRule : std::uint8_t {
  of_library,  ///< that of the ONNX library, if it has the operator
  like_first,
  like_second,
  broadcast,
  // Element-wise operators, norms, quantization, rules for several families.
  batch_normalization,
  dropout,
  halved,
  bitmask_dropout,
  dequantize,
  dequantize_ordered,
  embed_normalization,
  truth_value,
  normalization,
  integer_product,
  hashes,
  quantized_broadcast,
  reduced,
  q_where,
  quantize,
  quantize_ordered,
  reduced_to_i32,
  group_normalization_of_sum,
  // Attention.
  attention_of_projections,
  decoder_attention,
  multi_head_attention,
  gated_position_bias,
  rotated_query_and_key,
  group_query_attention,
  packed_attention,
  packed_multi_head_attention,
  paged_attention,
  relative_position_bias,
  // Products.
  gemm,
  product,
  distances,
  product_to_float,
  transposed_product,
  gemm_float8,
  bnb4_weights,
  weights_of_given_shape,
  product_to_i32,
  packed_weights,
  packed_mlp,
  packed_qkv,
  q_gemm,
  ordered_product,
  // Convolutions and pooling.
  window_pool,
  global_pool,
  transposed_convolution,
  convolution_with_state,
  transpose_of_given_pads,
  convolution,
  quantized_convolution,
  reorder_input,
  reorder_output,
  upsample,
  // Movement and indexing.
  slice_of_known_places,
  crop_and_resize,
  path_of_least_cost,
  expand_dims,
  gather_block_quantized,
  gather_nd,
  grid_sample,
  pad,
  q_concat,
  range_of_numbers,
  tokens,
  embedding,
  unfold,
  distinct,
  word_embedding,
  // Recurrent cells.
  recurrent_states,
  // Transforms.
  window_function,
  dft,
  mel_weight_matrix,
  stft,
  inverse_real_transform,
  real_transform,
  // Operators of ai.onnx.ml.
  array_feature_extractor,
  dict_vectorizer,
  feature_vectorizer,
  label_encoder,
  linear_regressor,
  float_like,
  vector_classifier,
  one_target,
  tree_ensemble,
  tree_classifier,
  tree_regressor,
  // Training.
  pool_gradient,
  convolution_gradient,
  adam,
  adamw_of_sequences,
  batch_norm_internal,
  norm_gradient,
  axes_of_broadcast,
  concatenation,
  picked_gradient,
  gather_gradient,
  accumulator,
  sum_over_axes,
  sgd,
  sgd_of_sequences,
  loss_with_log_prob,
  parts_along_axis,
  // Old operator sets.
  compress,
  concat_of_set_1,
  crop,
  boolean_broadcast,
  normalization_from,
  pad_by_attribute,
  reshape_by_attribute,
  count,  ///< the number of rules
};

/// Which parts of the inputs a part of a result needs; model/detail/live_needs.hpp has the functions.
enum class Demand : std::uint8_t {
  of_layer,  ///< as its layer says; if it says nothing, of a part of the result nothing is certain
  // For each element of the result, the elements at the same position.
  elementwise,
  first_alone,  ///< of the first input only
  unread,       ///< only sizes are read
  mask,         ///< a second result is independent of the input
  triangle,
  // Movements.
  reshape,
  transposition,
  blocks,
  slice,
  parts,
  joined,
  gather,
  gather_places,
  scatter,
  tiling,
  padding,
  reversal,
  // Along axes, over windows, and products.
  cumulation,
  reduction,
  channel_window,
  mean_variance,
  softmax,
  resize,
  einsum,
  product,
  recurrence,
  // The result's axes that axes of the inputs follow.
  transform,
  frames,
  first_axis,
  grid_samples,
  box_samples,
  deformed_windows,
  cache_rows,
  one_hot,
  // As many rows of tables as are certain, if data choose them.
  embeddings,
  table_row,
  experts,
  dynamic_quantization,
  quantization,
};

/// The rule that differentiates an operator; training/gradient_rules.hpp has the functions.
enum class Gradient : std::uint8_t {
  unknown,
  conv,
  conv_transpose,
  mat_mul,
  gemm,
  einsum,
  pool,
  batch_norm,
  mean_variance,
  lp_norm,
  lrn,
  identity,
  dropout,
  sub,
  mul,
  div,
  swiglu,
  mod,
  pow,
  prelu,
  where,
  mean,
  transpose,
  blocks,
  concat,
  split,
  slice,
  pad,
  center,
  trilu,
  expand,
  tile,
  top_k,
  cumulative_sum,
  cumulative_product,
  cast,
  rotary,
  grid_sample,
  roi_align,
  reshape,
  lp_pool,
  angle,
  resize,
  recurrent,
  row_norm,
  softmax,
  loss,
  add,
  extremum,
  gather,
  scatter,
  sum,
  reduce,
  unary,
  none,  ///< 0 almost everywhere, or independent of the numbers of the operand
};

/// The tensors of forward that PyTorch keeps for backward.
enum class Saves : std::uint8_t {
  nothing,
  operand,
  result,
  both,
  all_operands,
  factors,  ///< each operand whose counterpart wants a gradient
  quotient,
  power,
  norm,
  max_pool,
  condition,
  padding,
  dropout,
  loss,
  indices,
};

/// How an operator between DequantizeLinear and QuantizeLinear is replaced by one on quantised tensors.
enum class QuantizedAs : std::uint8_t {
  nothing,
  product,
  binary,
  unary,
  codes,  ///< its result has elements of its inputs, whatever the codes mean
};

/// A rank that the ONNX library's shape rules assume without a check.
struct InputRank {
  std::uint8_t input = 0;
  std::uint8_t least = 0;  ///< 0: no rank is assumed
  std::uint8_t as = 0;     ///< the rank of this input, which may be the same one
};

struct OperatorFacts {
  std::string_view domain{};  ///< empty: ai.onnx
  std::string_view type{};
  ShapeRule shape{};
  ShapeRule absent_shape{};  ///< used if the ONNX library has no rule in the file's operator set
  InputRoles inputs{};
  Moves moves{};
  Traits traits{};
  std::optional<double> neutral{};  ///< a second operand of this number leaves the first one unchanged
  std::array<InputRank, 4> ranks{};
  /// The shapes of inputs, separated by commas, which the ONNX library does not compare. A letter is a size, the same
  /// one wherever it stands; `4h` is four times that; `*` is any size; `...` at the end means any further axes; `=1`
  /// has the shape of input 1. `h` is the attribute `hidden_size`, if it is given, and `d` the number of directions.
  std::string_view sizes{};
  Demand demand{};
  Gradient gradient{};
  /// Only the first inputs have a gradient, as many as this: the others are settings, such as the type operand of
  /// CastLike and the bounds of Clip, or statistics. ONNX's schemas say which inputs are differentiable.
  std::uint8_t differentiable = 0;
  Saves saves{};
  QuantizedAs quantized{};

  /// Whether the result has all elements of the first input in their order, if need be in another type.
  [[nodiscard]] constexpr bool keeps_order() const { return moves != Moves::nothing && moves <= Moves::shape; }
  /// Whether it has each of them once, in any order.
  [[nodiscard]] constexpr bool keeps_each() const { return moves != Moves::nothing && moves <= Moves::permutation; }
  /// Whether it has each of them, in any order, once or several times.
  [[nodiscard]] constexpr bool keeps_all() const { return moves != Moves::nothing && moves <= Moves::repetition; }
  [[nodiscard]] constexpr bool is(Trait trait) const { return traits.contains(trait); }
  /// Whether input `i` is read completely, whatever the data are.
  [[nodiscard]] constexpr bool reads_all(std::size_t i) const { return inputs[i] >= InputRole::data; }
  [[nodiscard]] constexpr bool is_setting(std::size_t i) const { return inputs[i] >= InputRole::setting; }
};

/// What the tables of the families write.
namespace operators {

using enum InputRole;
using enum Trait;

inline constexpr std::uint8_t all_inputs = 255;

inline constexpr std::string_view microsoft = "com.microsoft";
inline constexpr std::string_view nchwc = "com.microsoft.nchwc";  ///< images with blocks of channels
inline constexpr std::string_view nhwc = "com.ms.internal.nhwc";  ///< images with channels last
inline constexpr std::string_view classic = "ai.onnx.ml";
inline constexpr std::string_view preview = "ai.onnx.preview.training";
inline constexpr std::string_view own = "benanza";  ///< what training adds

}  // namespace operators

}  // namespace benanza
