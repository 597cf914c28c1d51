// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention: softmax(scale * q k^T + mask) v, made by fusion (or ONNX Attention) and done as one
// group.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace benanza::op {

struct Attention {
  static constexpr std::string_view kind = "Attention";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 3> onnx_types{"Attention", "com.microsoft.MultiHeadAttention",
                                                              "com.microsoft.GroupQueryAttention"};
  DataType type = DataType::f32;
  TensorShape q{};     ///< batch heads queries depth
  TensorShape k{};     ///< batch kv-heads keys depth
  TensorShape v{};     ///< batch kv-heads keys value-depth
  TensorShape mask{};  ///< added to the scores, broadcasts to batch heads queries keys; empty: none
  bool causal = false;
  bool k_transposed = false;    ///< k lies in memory as batch kv-heads depth keys
  bool q_tokens_first = false;  ///< q lies in memory as batch queries heads depth, as a projection leaves it
  bool k_tokens_first = false;  ///< k as batch keys kv-heads depth
  bool v_tokens_first = false;  ///< v as batch keys kv-heads value-depth
  bool y_tokens_first = false;  ///< y as batch queries heads value-depth

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
  }
  constexpr bool operator==(const Attention&) const = default;

  /// Also com.microsoft's MultiHeadAttention and GroupQueryAttention. ONNX Attention without cache, window, capped
  /// scores or other outputs, its operands as batch, heads, sequence, depth.
  [[nodiscard]] static std::optional<Attention> from(const Node& node, const AnyGraph auto& graph) {
    if (node.op_type != "Attention") return from_tokens(node, graph);
    if (node.inputs.size() < 3 || node.has_input(4) || node.has_input(5) || node.has_input(6)) return std::nullopt;
    if (node.has_output(1) || node.has_output(2) || node.has_output(3) || node.attribute<double>("softcap", 0) != 0)
      return std::nullopt;
    for (const auto* window : {"left_window_size", "right_window_size"})
      if (node.attribute<std::int64_t>(window, -1) != -1) return std::nullopt;
    const Value& q_value = graph.input(node, 0);
    const auto q = detail::to_shape(q_value.dims), k = detail::to_shape(graph.input(node, 1).dims),
               v = detail::to_shape(graph.input(node, 2).dims);
    if (!q || !k || !v || q->size() != 4 || k->size() != 4 || v->size() != 4) return std::nullopt;
    Attention attention{
        .type = q_value.type, .q = *q, .k = *k, .v = *v, .causal = node.attribute<std::int64_t>("is_causal", 0) != 0};
    if (const Value* mask = detail::optional_input(node, graph, 3)) {
      const auto shape = detail::to_shape(detail::padded(mask->dims, 4));
      if (!shape || mask->type != q_value.type) return std::nullopt;  // a mask of truth values is applied otherwise
      attention.mask = *shape;
    }
    return attention;
  }

  [[nodiscard]] constexpr TensorShape y() const { return {q[0], q[1], q[2], v[3]}; }

  /// Whether an operand lies otherwise than batch, heads, tokens, depth; `k_transposed` apart.
  [[nodiscard]] constexpr bool tokens_first() const {
    return q_tokens_first || k_tokens_first || v_tokens_first || y_tokens_first;
  }

  [[nodiscard]] Operands operands() const {
    const auto stored = [](const TensorShape& s, bool by_tokens) {
      return by_tokens ? TensorShape{s[0], s[2], s[1], s[3]} : s;
    };
    const TensorShape stored_k = k_transposed ? TensorShape{k[0], k[1], k[3], k[2]} : stored(k, k_tokens_first);
    Operands result{.inputs = {{.name = "q", .type = type, .shape = stored(q, q_tokens_first)},
                               {.name = "k", .type = type, .shape = stored_k},
                               {.name = "v", .type = type, .shape = stored(v, v_tokens_first)}},
                    .outputs = {{.name = "y", .type = type, .shape = stored(y(), y_tokens_first)}}};
    if (!mask.empty()) result.inputs.push_back({.name = "mask", .type = type, .shape = mask});
    return result;
  }

  /// ONNX Attention: two matrix products a head (queries x keys x depth, queries x keys x value-depth) and a softmax (5
  /// a score), the scale (1) and the mask (1). A causal mask halves none of it here: the files write it as a tensor.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t scores = checked_product(checked_product(q[0], q[1]), checked_product(q[2], k[2]));
    const std::int64_t macs = checked_product(scores, q[3] + v[3]);
    return {.macs = macs,
            .flops = 2.0 * static_cast<double>(macs) + (mask.empty() ? 6.0 : 7.0) * static_cast<double>(scores)};
  }

  [[nodiscard]] constexpr bool consistent() const {
    if (!detail::are_sizes(q, 4) || !detail::are_sizes(k, 4) || !detail::are_sizes(v, 4)) return false;
    if (k_transposed && k_tokens_first) return false;
    if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || q[1] % k[1] != 0 || k[2] != v[2] || q[3] != k[3]) return false;
    return detail::broadcasts_to(mask, {q[0], q[1], q[2], k[2]});
  }

 private:
  /// Operands as ONNX Runtime has them: batch, tokens, heads * depth. Keys and values are those of the cache and of the
  /// call; biases, rotations and the copying of the cache are not counted. Tokens behind a cache see all of it, so that
  /// nearly nothing is masked: causal is what sees as many keys as it has tokens.
  [[nodiscard]] static std::optional<Attention> from_tokens(const Node& node, const AnyGraph auto& graph) {
    constexpr std::int64_t most_heads = 1 << 20;  // more is not a model
    const bool grouped = node.op_type == "GroupQueryAttention";
    const Value& q_value = graph.input(node, 0);
    const std::int64_t heads = node.attribute<std::int64_t>("num_heads", 0),
                       kv_heads = grouped ? node.attribute<std::int64_t>("kv_num_heads", 0) : heads;
    if (q_value.dims.size() != 3 || heads < 1 || heads > most_heads || kv_heads < 1 || kv_heads > most_heads ||
        node.attribute<double>("softcap", 0) != 0 || node.attribute<std::int64_t>("local_window_size", -1) > 0 ||
        (!grouped && !node.has_input(1)))
      return std::nullopt;
    const std::int64_t batch = q_value.dims[0], tokens = q_value.dims[1];
    const bool packed = !node.has_input(1);  // queries, keys and values of a token in one row
    const std::int64_t depth = q_value.dims[2] / (packed ? heads + 2 * kv_heads : heads);
    const Value* k_value = detail::optional_input(node, graph, 1);
    const Value* v_value = detail::optional_input(node, graph, 2);
    const Value* past = detail::optional_input(node, graph, grouped ? 3 : 6);
    if (k_value && !v_value) return std::nullopt;
    const auto by_heads = [](const Value* value) { return value && value->dims.size() == 4; };
    if (k_value && v_value->dims.size() != k_value->dims.size()) return std::nullopt;
    if (k_value && k_value->dims.size() != 3 && !by_heads(k_value)) return std::nullopt;
    std::int64_t keys = !k_value ? tokens : k_value->dims[by_heads(k_value) ? 2 : 1];
    const std::int64_t value_depth = !v_value            ? depth
                                     : by_heads(v_value) ? v_value->dims[3]
                                                         : v_value->dims[2] / kv_heads;
    if (past && (past->dims.size() != 4 || past->type != q_value.type)) return std::nullopt;
    if (past && !by_heads(k_value)) keys += past->dims[2];
    // The cache may be longer than what is in it: how many tokens there are is a number of its own.
    if (const Value* total = grouped ? detail::optional_input(node, graph, 6) : nullptr)
      if (const auto known = detail::scalar(*total)) keys = static_cast<std::int64_t>(*known);
    const bool flat = !by_heads(k_value) && !past;
    Attention attention{.type = q_value.type,
                        .q = {batch, heads, tokens, depth},
                        .k = {batch, kv_heads, keys, depth},
                        .v = {batch, kv_heads, keys, value_depth},
                        .causal = tokens == keys && (grouped || node.attribute<std::int64_t>("unidirectional", 0) != 0),
                        .q_tokens_first = true,
                        .k_tokens_first = flat,
                        .v_tokens_first = flat,
                        .y_tokens_first = true};
    if (const Value* mask = detail::optional_input(node, graph, grouped ? 10 : 5)) {
      const auto shape = detail::to_shape(detail::padded(mask->dims, 4));
      if (!shape || mask->type != q_value.type) return std::nullopt;
      attention.mask = *shape;
    }
    return attention;
  }
};

}  // namespace benanza::op
