// SPDX-License-Identifier: Apache-2.0
// Attention, and the rotation of positions before it.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::op {

/// Scores that are written in addition to the result: a number for each query and key.
enum class Scores : std::uint8_t {
  none,
  raw,      ///< scaled products
  capped,   ///< after the cap
  masked,   ///< after the mask
  weights,  ///< after the softmax
};
[[nodiscard]] constexpr auto enum_names(Scores) {
  return std::array<std::string_view, 5>{"none", "raw", "capped", "masked", "weights"};
}

/// Scaled dot-product attention: softmax(scale * q k^T + mask) v, created by fusion (or ONNX Attention) and computed as
/// one group. Query i has position `past` + i in the sequence of keys. It sees the keys that the mask, `causal`,
/// `before` and `after` all allow.
struct Attention {
  static constexpr std::string_view kind = "Attention";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 3> onnx_types{"Attention", "com.microsoft.MultiHeadAttention",
                                                              "com.microsoft.GroupQueryAttention"};
  /// The cap with which capped scores are measured and checked. Its value does not affect the speed.
  static constexpr double measured_cap = 1;
  DataType type = DataType::f32;
  TensorShape q{};     ///< batch heads queries depth
  TensorShape k{};     ///< batch kv-heads keys depth
  TensorShape v{};     ///< batch kv-heads keys value-depth
  TensorShape mask{};  ///< added to the scores, broadcasts to batch heads queries keys; empty: no mask
  bool causal = false;
  bool k_transposed = false;            ///< k is stored as batch kv-heads depth keys
  bool q_tokens_first = false;          ///< q is stored as batch queries heads depth, as a projection leaves it
  bool k_tokens_first = false;          ///< k as batch keys kv-heads depth
  bool v_tokens_first = false;          ///< v as batch keys kv-heads value-depth
  bool y_tokens_first = false;          ///< y as batch queries heads value-depth
  std::optional<DataType> mask_type{};  ///< boolean: the mask selects the keys that are seen, and is not added
  bool capped = false;                  ///< scores are cap * tanh(score / cap)
  std::int64_t past = 0;                ///< keys before the position of the first query
  std::int64_t before = -1;             ///< keys seen before a query's own position; -1: all
  std::int64_t after = -1;              ///< keys seen after a query's own position; -1: all; with causal: no keys
  Scores scores = Scores::none;         ///< scores that are also written

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("q", self.q);
    visit("k", self.k);
    visit("v", self.v);
    visit("mask", self.mask);
    visit("causal", self.causal);
    visit("k_transposed", self.k_transposed);
    visit("q_tokens_first", self.q_tokens_first);
    visit("k_tokens_first", self.k_tokens_first);
    visit("v_tokens_first", self.v_tokens_first);
    visit("y_tokens_first", self.y_tokens_first);
    visit("mask_type", self.mask_type);
    visit("capped", self.capped);
    visit("past", self.past);
    visit("before", self.before);
    visit("after", self.after);
    visit("scores", self.scores);
  }
  constexpr bool operator==(const Attention&) const = default;

  /// Also reads com.microsoft's MultiHeadAttention and GroupQueryAttention. Keys and values include those of a cache.
  /// Biases and rotations of queries, keys and values, padding masks and the copying of a cache are not counted.
  [[nodiscard]] static std::optional<Attention> from(const Node& node, const Graph& graph);

  /// Whether it is known only from data how much of a cache is filled. The layer has all of it; floors count one key.
  [[nodiscard]] static bool is_filled_by_data(const Node& node, const Graph& graph);

  /// The inputs of a node that output `i` holds one after the other, the cache first. Empty if the output is computed.
  [[nodiscard]] static std::vector<std::size_t> cached_inputs(const Node& node, std::size_t i);

  [[nodiscard]] constexpr TensorShape y() const { return {q[0], q[1], q[2], v[3]}; }

  /// Whether an operand has another order in memory than batch, heads, tokens, depth. Ignores `k_transposed`.
  [[nodiscard]] constexpr bool tokens_first() const {
    return q_tokens_first || k_tokens_first || v_tokens_first || y_tokens_first;
  }

  /// The first key that a query sees, and one past the last.
  [[nodiscard]] constexpr std::int64_t first_key(std::int64_t query) const {
    return before < 0 ? 0 : std::clamp<std::int64_t>(past + query - before, 0, k[2]);
  }
  [[nodiscard]] std::int64_t last_key(std::int64_t query) const;
  /// Keys that at least one query sees.
  [[nodiscard]] std::int64_t seen_keys() const { return last_key(q[2] - 1) - first_key(0); }
  /// Each query sees the keys up to some position, or all keys: there is no window, and no cache before the first
  /// query.
  [[nodiscard]] constexpr bool starts_at_first_key() const { return past == 0 && before < 0 && after < 0; }

  /// What this layer needs that a plan lacks if it adds a mask to scores and writes only the result. Empty if such a
  /// plan does everything.
  [[nodiscard]] std::string_view beyond_added_mask() const;

  [[nodiscard]] Operands operands() const;

  /// Pairs of a query and a key that it sees, for one head.
  [[nodiscard]] double pairs() const;

  /// ONNX Attention: two matrix products per head (queries x keys x depth, queries x keys x value-depth), and per score
  /// a softmax (5 operations), the scale (1), the mask (1) and the cap (division, tanh, product). FLOPs count the pairs
  /// that `causal` and the window leave; a mask that is a tensor may leave any pairs. Nominal multiply-adds count all
  /// pairs.
  [[nodiscard]] Arithmetic arithmetic() const;
  /// The part of these operations that the fastest form leaves out: it scales the queries or keys and divides the
  /// results, as FlashAttention-2 does (Dao, 2023), if they have fewer numbers than there are pairs, and starts the
  /// sums of products with the mask. The division by the cap is a scale, too. What is left of scale and division does
  /// not count.
  [[nodiscard]] double saved_flops() const;

  [[nodiscard]] bool consistent() const;

 private:
  static constexpr std::int64_t most_heads = 1 << 20;  // more is not plausible in a model

  /// The index of the first input that holds a cache.
  [[nodiscard]] static std::size_t first_cache(const Node& node);

  /// GroupQueryAttention: whether keys and values of the call are written into free space of the cache.
  [[nodiscard]] static bool shares_cache(const Node& node, const Graph& graph);

  /// Sum of (first + i) over the queries i, each clamped to [0, keys].
  [[nodiscard]] double clamped_sum(std::int64_t first) const;

  /// One operand: batch, heads, tokens, depth, and whether tokens come first in memory.
  struct Heads {
    TensorShape shape{};
    bool tokens_first = false;
  };
  /// Rank 4 has the heads before the tokens. Rank 3 has the heads of a token side by side.
  [[nodiscard]] static std::optional<Heads> heads_of(const Value& value, std::int64_t heads);

  /// Puts the keys and values of a cache before those of the call. The result has the memory order of the cache.
  [[nodiscard]] static bool append_to_cache(const Value* cache, DataType type, Heads& k, Heads& v);

  [[nodiscard]] static Attention joined(DataType type, const Heads& q, const Heads& k, const Heads& v);

  /// False if the mask is of an unsupported kind.
  [[nodiscard]] bool add_mask(const Value* value);

  /// Removes bounds that exclude nothing, so that equal work has equal fields.
  void drop_idle_bounds();

  [[nodiscard]] static std::optional<Attention> from_onnx(const Node& node, const Graph& graph);

  /// How many keys a cache of at most `most` keys holds: `most` if only data tells, nothing if sequences differ in
  /// length.
  [[nodiscard]] static std::optional<std::int64_t> filled_keys(const Value& lengths, std::int64_t most);

  /// Reads operands in the forms that ONNX Runtime has: batch, tokens, heads * depth; or queries, keys and values of
  /// one token in one row, or of one head in one row (rank 5).
  [[nodiscard]] static std::optional<Attention> from_microsoft(const Node& node, const Graph& graph);

  /// The operand has the dimensions batch, tokens, heads, `count` operands, depth.
  [[nodiscard]] static std::optional<Heads> of_packed_heads(const Value& value, std::int64_t count);
};

/// Rotary position embedding: pairs of elements of each row are rotated by an angle that depends on the row's position.
/// Fusion creates it if exporters write it out in parts.
struct Rotary {
  static constexpr std::string_view kind = "Rotary";
  static constexpr Family family = Family::elementwise;
  static constexpr std::array<std::string_view, 2> onnx_types{"RotaryEmbedding", "com.microsoft.RotaryEmbedding"};
  DataType type = DataType::f32;
  TensorShape x{};           ///< positions, heads ... in any order, then the depth that is rotated
  TensorShape angles{};      ///< both cosines and sines: broadcasts to x; one per element, or one per pair
  bool interleaved = false;  ///< a pair is two neighbours; otherwise one element from each half of a row
  std::int64_t turned = 0;   ///< how many leading elements of a row are rotated; 0: all of them

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("x", self.x);
    visit("angles", self.angles);
    visit("interleaved", self.interleaved);
    visit("turned", self.turned);
  }
  constexpr bool operator==(const Rotary&) const = default;

  /// Leading dimensions are folded, and the depth is kept. Nothing if there are too many dimensions.
  [[nodiscard]] static std::optional<Rotary> of(DataType type, detail::Dims x, detail::Dims angles, bool interleaved,
                                                std::int64_t turned = 0);

  /// Reads ONNX RotaryEmbedding and com.microsoft's, with angles that are given for each position or picked from a
  /// table. Picking is not counted.
  [[nodiscard]] static std::optional<Rotary> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t depth() const { return x.back(); }
  /// Elements of a row that are rotated.
  [[nodiscard]] constexpr std::int64_t turned_depth() const { return turned == 0 ? depth() : turned; }

  [[nodiscard]] Operands operands() const;

  /// Two products and their sum or difference per rotated element.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/attention_inl.hpp>
#endif
