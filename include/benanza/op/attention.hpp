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
  static constexpr std::array<std::string_view, 1> onnx_types{"Attention"};
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

  /// ONNX Attention without cache, capped scores or other outputs, its operands as batch, heads, sequence, depth.
  [[nodiscard]] static std::optional<Attention> from(const Node& node, const Graph& graph) {
    if (node.inputs.size() < 3 || node.has_input(4) || node.has_input(5) || node.has_input(6)) return std::nullopt;
    if (node.has_output(1) || node.has_output(2) || node.has_output(3) || node.attribute<double>("softcap", 0) != 0)
      return std::nullopt;
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
};
static_assert(Operator<Attention>, "Attention: fields() must visit every member");

}  // namespace benanza::op
