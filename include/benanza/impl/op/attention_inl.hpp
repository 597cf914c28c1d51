// SPDX-License-Identifier: Apache-2.0
// Attention, and the rotation of positions before it.
#pragma once

#include <benanza/base/detail/collapse.hpp>
#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/attention.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Attention> Attention::from(const Node& node, const Graph& graph) {
  return node.domain.empty() ? from_onnx(node, graph) : from_microsoft(node, graph);
}

BENANZA_INLINE bool Attention::is_filled_by_data(const Node& node, const Graph& graph) {
  if (node.domain.empty()) return node.has_input(6) && !graph.input(node, 6).literal;
  const Value* total = detail::optional_input(node, graph, 6);
  return shares_cache(node, graph) && (!total || !detail::scalar(*total));
}

BENANZA_INLINE std::vector<std::size_t> Attention::cached_inputs(const Node& node, std::size_t i) {
  if (i != 1 && i != 2) return {};
  const bool packed = !node.has_input(i);  // in one tensor with the queries, or values with the keys
  return {first_cache(node) + i - 1, !packed ? i : node.has_input(1) ? 1 : 0};
}

BENANZA_INLINE std::int64_t Attention::last_key(std::int64_t query) const {
  const std::int64_t reach = causal ? 0 : after;
  return reach < 0 ? k[2] : std::clamp<std::int64_t>(past + query + reach + 1, 0, k[2]);
}

BENANZA_INLINE std::string_view Attention::beyond_added_mask() const {
  if (capped) return "attention with capped scores";
  if (mask_type) return "attention with a mask of truth values";
  return scores != Scores::none ? "attention that writes its scores" : "";
}

BENANZA_INLINE Operands Attention::operands() const {
  const auto stored = [](const TensorShape& s, bool by_tokens) {
    return by_tokens ? TensorShape{s[0], s[2], s[1], s[3]} : s;
  };
  const TensorShape stored_k = k_transposed ? TensorShape{k[0], k[1], k[3], k[2]} : stored(k, k_tokens_first);
  Operands result{.inputs = {{.name = "q", .type = type, .shape = stored(q, q_tokens_first)},
                             {.name = "k", .type = type, .shape = stored_k},
                             {.name = "v", .type = type, .shape = stored(v, v_tokens_first)}},
                  .outputs = {{.name = "y", .type = type, .shape = stored(y(), y_tokens_first)}}};
  if (seen_keys() < k[2])
    for (std::size_t i = 1; i < 3; ++i) result.inputs[i].touched = result.inputs[i].elements() / k[2] * seen_keys();
  if (!mask.empty())
    result.inputs.push_back({.name = "mask",
                             .type = mask_type.value_or(type),
                             .shape = mask,
                             .contents = mask_type ? Contents::boolean : Contents::uniform});
  if (scores != Scores::none)
    result.outputs.push_back({.name = "scores", .type = type, .shape = {q[0], q[1], q[2], k[2]}});
  return result;
}

BENANZA_INLINE double Attention::pairs() const {
  const std::int64_t reach = causal ? 0 : after;
  const double all = static_cast<double>(q[2]) * static_cast<double>(k[2]);
  const double ends = reach < 0 ? all : clamped_sum(past + reach + 1);
  return before < 0 ? ends : ends - clamped_sum(past - before);
}

BENANZA_INLINE Arithmetic Attention::arithmetic() const {
  const std::int64_t heads = checked_product(q[0], q[1]);
  const std::int64_t macs = checked_product(checked_product(heads, checked_product(q[2], k[2])), q[3] + v[3]);
  const double of_pair = 2.0 * static_cast<double>(q[3] + v[3]) + (mask.empty() ? 6.0 : 7.0) + (capped ? 3.0 : 0.0);
  return {.macs = macs, .flops = static_cast<double>(heads) * pairs() * of_pair};
}

BENANZA_INLINE double Attention::saved_flops() const {
  const double each = pairs(), queries = static_cast<double>(q[2]);
  const double scaled = static_cast<double>(std::min(q[2], k[2])) * static_cast<double>(q[3]);
  const bool scales = scaled < each, divides = queries * static_cast<double>(v[3]) < each && scores != Scores::weights,
             adds = !mask.empty() && !mask_type && !capped;
  const double of_pair = (scales ? capped ? 2.0 : 1.0 : 0.0) + (divides ? 1.0 : 0.0) + (adds ? 1.0 : 0.0);
  return static_cast<double>(q[0]) * static_cast<double>(q[1]) * each * of_pair;
}

BENANZA_INLINE bool Attention::consistent() const {
  if (!detail::are_sizes(q, 4) || !detail::are_sizes(k, 4) || !detail::are_sizes(v, 4)) return false;
  if (k_transposed && k_tokens_first) return false;
  if (past < 0 || past > detail::largest_size || before < -1 || before > detail::largest_size || after < -1 ||
      after > detail::largest_size || (causal && after >= 0))
    return false;
  if (mask_type && (mask.empty() || mask_type != DataType::boolean)) return false;
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || q[1] % k[1] != 0 || k[2] != v[2] || q[3] != k[3]) return false;
  return detail::broadcasts_to(mask, {q[0], q[1], q[2], k[2]});
}

BENANZA_INLINE std::size_t Attention::first_cache(const Node& node) {
  return node.domain.empty() ? 4 : node.op_type == "GroupQueryAttention" ? 3 : 6;
}

BENANZA_INLINE bool Attention::shares_cache(const Node& node, const Graph& graph) {
  if (node.op_type != "GroupQueryAttention" || !node.has_input(3) || !node.has_output(1)) return false;
  const auto &past = graph.input(node, 3).dims, &present = graph.output(node, 1).dims;
  return past.size() == 4 && past == present;
}

BENANZA_INLINE double Attention::clamped_sum(std::int64_t first) const {
  const auto below = [keys = static_cast<double>(k[2])](double end) {  // sum over all integers less than end
    if (end <= 0) return 0.0;
    return end <= keys ? end * (end - 1) / 2 : keys * (keys - 1) / 2 + (end - keys) * keys;
  };
  const auto begin = static_cast<double>(first);
  return below(begin + static_cast<double>(q[2])) - below(begin);
}

BENANZA_INLINE std::optional<Attention::Heads> Attention::heads_of(const Value& value, std::int64_t heads) {
  const auto& dims = value.dims;
  if (dims.size() == 4) return Heads{*detail::to_shape(dims)};
  if (dims.size() != 3 || heads < 1 || heads > most_heads || dims[2] % heads != 0) return std::nullopt;
  return Heads{{dims[0], heads, dims[1], dims[2] / heads}, true};
}

BENANZA_INLINE bool Attention::append_to_cache(const Value* cache, DataType type, Heads& k, Heads& v) {
  if (!cache) return true;
  const std::size_t rank = cache->dims.size();  // 5: keys and values stacked
  if ((rank != 4 && rank != 5) || cache->type != type) return false;
  k.shape[2] += cache->dims[rank - 2];
  v.shape[2] += cache->dims[rank - 2];
  k.tokens_first = v.tokens_first = false;
  return true;
}

BENANZA_INLINE Attention Attention::joined(DataType type, const Heads& q, const Heads& k, const Heads& v) {
  return {.type = type,
          .q = q.shape,
          .k = k.shape,
          .v = v.shape,
          .q_tokens_first = q.tokens_first,
          .k_tokens_first = k.tokens_first,
          .v_tokens_first = v.tokens_first,
          .y_tokens_first = q.tokens_first};
}

BENANZA_INLINE bool Attention::add_mask(const Value* value) {
  if (!value) return true;
  const auto shape = detail::to_shape(detail::padded(value->dims, 4));
  if (!shape || (value->type != type && value->type != DataType::boolean)) return false;
  mask = *shape;
  mask_type = detail::if_other(value->type, type);
  return true;
}

BENANZA_INLINE void Attention::drop_idle_bounds() {
  if (after == 0) causal = true;
  if (causal) after = -1;
  if (causal && past + 1 >= k[2]) causal = false;
  if (after >= 0 && past + after + 1 >= k[2]) after = -1;
  if (before >= 0 && past + q[2] - 1 - before <= 0) before = -1;
  if (!causal && before < 0 && after < 0) past = 0;
}

BENANZA_INLINE std::optional<Attention> Attention::from_onnx(const Node& node, const Graph& graph) {
  const Value& q_value = graph.input(node, 0);
  const auto q_heads = node.attribute<std::int64_t>("q_num_heads", 0),
             kv_heads = node.attribute<std::int64_t>("kv_num_heads", 0);
  const auto q = heads_of(q_value, q_heads);
  auto k = heads_of(graph.input(node, 1), kv_heads), v = heads_of(graph.input(node, 2), kv_heads);
  if (!q || !k || !v || !append_to_cache(detail::optional_input(node, graph, 4), q_value.type, *k, *v))
    return std::nullopt;
  std::int64_t past = node.has_input(4) ? graph.input(node, 4).dims[2] : 0;
  if (const Value* lengths = detail::optional_input(node, graph, 6)) {
    const auto keys = filled_keys(*lengths, k->shape[2]);
    if (!keys) return std::nullopt;
    k->shape[2] = v->shape[2] = *keys;
    past = *keys - q->shape[2];
  }
  Attention attention = joined(q_value.type, *q, *k, *v);
  if (!attention.add_mask(detail::optional_input(node, graph, 3))) return std::nullopt;
  attention.causal = node.attribute<std::int64_t>("is_causal", 0) != 0;
  attention.capped = node.attribute<double>("softcap", 0) != 0;
  attention.past = past;
  attention.before = node.attribute<std::int64_t>("left_window_size", -1);
  attention.after = node.attribute<std::int64_t>("right_window_size", -1);
  attention.drop_idle_bounds();
  if (node.has_output(3)) {
    const auto mode = node.attribute<std::int64_t>("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) return std::nullopt;
    attention.scores = static_cast<Scores>(1 + mode);
  }
  return attention;
}

BENANZA_INLINE std::optional<std::int64_t> Attention::filled_keys(const Value& lengths, std::int64_t most) {
  if (!lengths.literal || lengths.literal->ints.empty()) return most;
  const auto& known = lengths.literal->ints;
  const bool same = std::all_of(known.begin(), known.end(), [&](auto length) { return length == known[0]; });
  return same && known[0] >= 1 && known[0] <= most ? std::optional(known[0]) : std::nullopt;
}

BENANZA_INLINE std::optional<Attention> Attention::from_microsoft(const Node& node, const Graph& graph) {
  const bool grouped = node.op_type == "GroupQueryAttention";
  const Value& q_value = graph.input(node, 0);
  const auto heads = node.attribute<std::int64_t>("num_heads", 0),
             kv_heads = grouped ? node.attribute<std::int64_t>("kv_num_heads", 0) : heads;
  if (heads < 1 || heads > most_heads || kv_heads < 1 || kv_heads > most_heads || node.has_output(3))
    return std::nullopt;
  const Value* k_value = detail::optional_input(node, graph, 1);
  const Value* v_value = detail::optional_input(node, graph, 2);
  std::optional<Heads> q, k, v;
  if (k_value) {
    q = heads_of(q_value, heads);
    k = k_value->dims.size() == 5 ? of_packed_heads(*k_value, 2) : heads_of(*k_value, kv_heads);
    v = v_value ? heads_of(*v_value, kv_heads) : k;
    if (!v_value && k_value->dims.size() != 5) return std::nullopt;
  } else if (q_value.dims.size() == 5) {
    q = k = v = of_packed_heads(q_value, 3);
  } else if (q_value.dims.size() == 3) {
    const auto& dims = q_value.dims;
    const auto sizes = node.attribute<detail::Dims>("qkv_hidden_sizes", {});
    const std::int64_t all = heads + 2 * kv_heads, depth = sizes.size() == 3 ? sizes[0] / heads : dims[2] / all,
                       value_depth = sizes.size() == 3 ? sizes[2] / heads : depth;
    q = Heads{{dims[0], heads, dims[1], depth}, true};
    k = Heads{{dims[0], kv_heads, dims[1], depth}, true};
    v = Heads{{dims[0], kv_heads, dims[1], value_depth}, true};
  }
  const Value* cache = detail::optional_input(node, graph, first_cache(node));
  const bool is_whole = k_value && k_value->dims.size() == 4;  // keys of another sequence: the cache is not read
  if (!q || !k || !v || !append_to_cache(is_whole ? nullptr : cache, q_value.type, *k, *v)) return std::nullopt;
  // The cache may be longer than its contents: the number of tokens is an input of its own.
  if (const Value* total = grouped ? detail::optional_input(node, graph, 6) : nullptr)
    if (const auto known = detail::scalar(*total)) k->shape[2] = v->shape[2] = static_cast<std::int64_t>(*known);
  if (shares_cache(node, graph))
    for (auto* held : {&*k, &*v}) held->shape[2] = std::min(held->shape[2], cache->dims[2]);
  Attention attention = joined(q_value.type, *q, *k, *v);
  attention.y_tokens_first = true;
  if (!attention.add_mask(detail::optional_input(node, graph, grouped ? 10 : 5))) return std::nullopt;
  attention.causal = grouped || node.attribute<std::int64_t>("unidirectional", 0) != 0;
  attention.capped = node.attribute<double>("softcap", 0) != 0;
  attention.past = grouped || (cache && !is_whole) ? attention.k[2] - attention.q[2] : 0;
  if (const auto window = node.attribute<std::int64_t>("local_window_size", -1); window > 0)
    attention.before = window - 1;  // the token itself is one of them
  attention.drop_idle_bounds();
  return attention;
}

BENANZA_INLINE std::optional<Attention::Heads> Attention::of_packed_heads(const Value& value, std::int64_t count) {
  const auto& dims = value.dims;
  if (dims[3] != count) return std::nullopt;
  return Heads{{dims[0], dims[2], dims[1], dims[4]}, true};
}

BENANZA_INLINE std::optional<Rotary> Rotary::of(DataType type, detail::Dims x, detail::Dims angles, bool interleaved,
                                                std::int64_t turned) {
  if (x.empty() || angles.empty()) return std::nullopt;
  const std::int64_t depth = x.back(), per_row = angles.back();
  x.pop_back();
  angles.pop_back();
  auto folded = detail::collapse(std::vector<detail::Dims>{std::move(x), std::move(angles)});
  folded[0].push_back(depth);
  folded[1].push_back(per_row);
  const auto x_shape = detail::to_shape(folded[0]), angles_shape = detail::to_shape(folded[1]);
  if (!x_shape || !angles_shape) return std::nullopt;
  return Rotary{.type = type,
                .x = *x_shape,
                .angles = *angles_shape,
                .interleaved = interleaved,
                .turned = turned == depth ? 0 : turned};
}

BENANZA_INLINE std::optional<Rotary> Rotary::from(const Node& node, const Graph& graph) {
  const bool own = node.domain.empty();
  const Value& x = graph.input(node, 0);
  const Value& cosines = graph.input(node, own ? 1 : 2);
  const Value* positions = own ? detail::optional_input(node, graph, 3) : &graph.input(node, 1);
  const std::size_t rank = cosines.dims.size();
  if (x.dims.size() < 3 || x.dims.size() > 4 || rank != (positions ? 2U : 3U) || cosines.dims.back() < 1)
    return std::nullopt;
  // x: batch, heads, tokens, depth or batch, tokens, heads * depth
  const bool by_heads = x.dims.size() == 4;
  const std::int64_t pairs = cosines.dims.back(), part = node.attribute<std::int64_t>("rotary_embedding_dim", 0),
                     heads = node.attribute<std::int64_t>("num_heads", 0), tokens = x.dims[by_heads ? 2 : 1];
  std::int64_t depth = x.dims.back();
  if (!by_heads) {
    depth = heads > 0 ? depth / heads : 2 * pairs;
    if (depth < 1 || x.dims[2] % depth != 0) return std::nullopt;
  }
  const std::int64_t rows = !positions ? cosines.dims[0] : positions->dims.size() == 2 ? positions->dims[0] : 1;
  const bool interleaved = node.attribute<std::int64_t>("interleaved", 0) != 0;
  if (by_heads) return of(x.type, x.dims, {rows, 1, tokens, pairs}, interleaved, part);
  return of(x.type, {x.dims[0], tokens, x.dims[2] / depth, depth}, {rows, tokens, 1, pairs}, interleaved, part);
}

BENANZA_INLINE Operands Rotary::operands() const {
  return {.inputs = {{.name = "x", .type = type, .shape = x},
                     {.name = "cos", .type = type, .shape = angles},
                     {.name = "sin", .type = type, .shape = angles}},
          .outputs = {{.name = "y", .type = type, .shape = x}}};
}

BENANZA_INLINE Arithmetic Rotary::arithmetic() const {
  return {.flops = 3.0 * static_cast<double>(element_count(x) / depth() * turned_depth())};
}

BENANZA_INLINE bool Rotary::consistent() const {
  if (!detail::are_sizes(x) || !detail::are_sizes(angles, x.size())) return false;
  if (turned < 0 || turned > depth() || turned_depth() % 2 != 0) return false;
  if (angles.back() != turned_depth() && angles.back() != turned_depth() / 2) return false;
  TensorShape whole = angles;
  whole[whole.size() - 1] = depth();
  return detail::broadcasts_to(whole, x);
}

}  // namespace benanza::op
