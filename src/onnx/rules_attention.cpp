// SPDX-License-Identifier: Apache-2.0
// Shape rules of attention and of related operators in language models.
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rule_tables.hpp"

#include <algorithm>

namespace benanza::importer {
namespace {

std::int64_t divided(std::int64_t hidden, std::int64_t heads) {
  if (heads <= 0 || hidden % heads != 0)
    throw InputError(std::to_string(hidden) + " columns, expected a multiple of " + std::to_string(heads) + " heads");
  return hidden / heads;
}

std::int64_t heads_of(const RuleArguments& a, std::string_view key) { return a.node.attribute<std::int64_t>(key, 1); }

/// Output 1, in which ONNX Runtime stacks keys and values: 2, batch, heads, tokens, depth. `past` is the index of the
/// corresponding input.
TypedShape stacked_cache(const RuleArguments& a, const Ints& input, std::int64_t hidden, std::size_t past) {
  const std::int64_t heads = heads_of(a, "num_heads");
  std::int64_t tokens = input[1];
  if (a.has(past)) {
    const Ints& before = of_rank(a, past, 5);
    const bool shared = a.node.attribute<std::int64_t>("past_present_share_buffer", 0) != 0;
    tokens = shared ? before[3] : before[3] + tokens;
  }
  return {a.in(0).type, {2, input[0], heads, tokens, divided(hidden, heads)}};
}

// input [batch, tokens, hidden], weights [hidden, q + k + v]
RuleResult attention_of_projections(const RuleArguments& a) {
  const bool quantized = a.node.op_type == "QAttention";
  const Ints& input = of_rank(a, 0, 3);
  const std::int64_t columns = of_rank(a, 1, 2)[1];
  const Ints sizes = a.node.attribute<Ints>("qkv_hidden_sizes", {});
  const std::int64_t hidden = sizes.size() == 3 ? sizes[2] : columns / 3;
  TypedShape y{quantized ? a.in(3).type : a.in(0).type, {input[0], input[1], hidden}};
  TypedShape present = stacked_cache(a, input, hidden, quantized ? 8 : 4);
  present.type = y.type;
  return {std::move(y), std::move(present)};
}

// tokens of all sequences, concatenated: input [tokens, hidden], weights [hidden, q + k + v]
RuleResult packed_attention(const RuleArguments& a) {
  const Ints& input = of_rank(a, 0, 2);
  const Ints sizes = a.node.attribute<Ints>("qkv_hidden_sizes", {});
  return {TypedShape{a.in(0).type, {input[0], sizes.size() == 3 ? sizes[2] : of_rank(a, 1, 2)[1] / 3}}};
}

// query [tokens, hidden], or [tokens, heads, 3, depth] for all three
RuleResult packed_multi_head_attention(const RuleArguments& a) {
  const Ints& query = a.in(0).dims;
  if (query.size() == 4) return {TypedShape{a.in(0).type, {query[0], query[1] * query[3]}}};
  return {TypedShape{a.in(0).type, {of_rank(a, 0, 2)[0], a.has(2) ? of_rank(a, 2, 2)[1] : query[1]}}};
}

// query [batch, tokens, hidden]; key and value the same, or [batch, heads, tokens, depth]. Packed: key and value
// [batch, tokens, heads, 2, depth], all three [batch, tokens, heads, 3, depth].
RuleResult multi_head_attention(const RuleArguments& a) {
  const Ints& query = a.in(0).dims;
  const DataType type = a.in(0).type;
  const std::int64_t heads = heads_of(a, "num_heads");
  const bool decodes = a.node.op_type == "DecoderMaskedMultiHeadAttention";
  if (query.size() != 3 && query.size() != 5)
    throw InputError("a query of shape " + shape_text(query) + ", expected rank 3 or 5");
  const Ints key = a.has(1) ? a.in(1).dims : Ints{};
  std::int64_t hidden = query.size() == 5 ? query[2] * query[4] : query[2], value_hidden = hidden;
  std::int64_t tokens = query[1];
  if (key.size() == 5 || key.size() == 3) tokens = key[1];
  if (key.size() == 4) tokens = key[2];
  if (a.has(2)) {
    const Ints& value = a.in(2).dims;
    value_hidden = value.size() == 4 ? value[1] * value[3] : value.size() == 3 ? value[2] : hidden;
  }
  const std::size_t past = decodes ? 5 : 6;
  if (a.has(past)) {
    const std::int64_t before = of_rank(a, past, 4)[2];
    const bool shared = decodes && a.node.attribute<std::int64_t>("past_present_share_buffer", 0) != 0;
    tokens = shared ? before : key.size() == 4 ? tokens : before + tokens;
  }
  return {TypedShape{type, {query[0], query[1], value_hidden}},
          TypedShape{type, {query[0], heads, tokens, divided(hidden, heads)}},
          TypedShape{type, {query[0], heads, tokens, divided(value_hidden, heads)}},
          TypedShape{type, {query[0], heads, query[1], tokens}}};
}

// query [batch, tokens, heads * depth], or with key and value after it; the cache is [batch, kv heads, tokens, depth].
RuleResult group_query_attention(const RuleArguments& a) {
  const Ints& query = of_rank(a, 0, 3);
  const DataType type = a.in(0).type;
  const std::int64_t heads = heads_of(a, "num_heads"), kv_heads = heads_of(a, "kv_num_heads");
  const bool packed = !a.has(1);
  const std::int64_t depth = divided(query[2], packed ? heads + 2 * kv_heads : heads);
  const bool sparse = a.node.op_type == "SparseAttention";
  std::int64_t tokens = query[1];
  if (a.has(3)) {
    // ONNX Runtime: the cache keeps its length, or has that of all tokens so far if that is more.
    const std::int64_t before = of_rank(a, 3, 4)[2];
    // If the old and the new cache share a buffer, it keeps its size, which the file declares. How much of it is used
    // depends on data.
    const Ints declared = a.declared(1);
    const bool shared = declared.size() == 4 && declared[2] == before;
    tokens = sparse ? before : std::max(before, known_int(a, 6).value_or(shared ? before : before + tokens));
  }
  const DataType cache = a.has(3) ? a.in(3).type : type;
  const Ints present{query[0], kv_heads, tokens, a.has(3) ? a.in(3).dims[3] : depth};
  return {TypedShape{type, {query[0], query[1], heads * depth}}, TypedShape{cache, present}, TypedShape{cache, present},
          TypedShape{type, {query[0], heads, query[1], tokens}}};
}

// The cache is written in place.
RuleResult paged_attention(const RuleArguments& a) {
  Ints y = of_rank(a, 0, 2);
  if (!a.has(1)) {
    const std::int64_t heads = heads_of(a, "num_heads");
    y[1] = heads * divided(y[1], heads + 2 * heads_of(a, "kv_num_heads"));
  }
  const Value& keys = a.in(3);
  const Value& values = a.has(4) ? a.in(4) : keys;
  return {TypedShape{a.in(0).type, y}, TypedShape{keys.type, keys.dims}, TypedShape{values.type, values.dims}};
}

// query [tokens, batch, hidden]; new caches [batch, heads, tokens, depth]
RuleResult decoder_attention(const RuleArguments& a) {
  const Ints &query = of_rank(a, 0, 3), &key = of_rank(a, 1, 3);
  const std::int64_t heads = heads_of(a, "num_heads");
  const auto uses_past = known_int(a, 9), is_static = known_int(a, 8);
  std::int64_t tokens = is_static.value_or(0) != 0 ? key[0] : query[0];
  if (!uses_past || !is_static) tokens = unknown_dim;
  else if (*uses_past != 0 && a.has(6)) tokens = of_rank(a, 6, 4)[2] + (*is_static != 0 ? 0 : tokens);
  const Ints cache{query[1], heads, tokens, divided(query[2], heads)};
  return {TypedShape{a.in(0).type, query}, TypedShape{a.in(0).type, cache}, TypedShape{a.in(0).type, cache}};
}

// bias_table [buckets, heads], query_length, key_length
RuleResult relative_position_bias(const RuleArguments& a) {
  return {TypedShape{
      a.in(0).type,
      {1, of_rank(a, 0, 2)[1], known_int(a, 1).value_or(unknown_dim), known_int(a, 2).value_or(unknown_dim)}}};
}

// query_layer [batch, tokens, hidden], query_bias, rel_pos [1, heads, tokens, tokens]
RuleResult gated_position_bias(const RuleArguments& a) {
  const Ints &query = a.in(0).dims, &bias = of_rank(a, 2, 4);
  if (query.empty()) throw InputError("a query that is a scalar");
  return {TypedShape{a.in(0).type, {query[0], heads_of(a, "num_heads"), bias[2], bias[3]}}};
}

// emb, q, q_rot, k, k_rot
RuleResult rotated_query_and_key(const RuleArguments& a) {
  return {TypedShape{a.in(1).type, a.in(1).dims}, TypedShape{a.in(3).type, a.in(3).dims}};
}

constexpr RuleEntry attention_table[] = {
    {ShapeRule::attention_of_projections, attention_of_projections},
    {ShapeRule::decoder_attention, decoder_attention},
    {ShapeRule::multi_head_attention, multi_head_attention},
    {ShapeRule::gated_position_bias, gated_position_bias},
    {ShapeRule::rotated_query_and_key, rotated_query_and_key},
    {ShapeRule::group_query_attention, group_query_attention},
    {ShapeRule::packed_attention, packed_attention},
    {ShapeRule::packed_multi_head_attention, packed_multi_head_attention},
    {ShapeRule::paged_attention, paged_attention},
    {ShapeRule::relative_position_bias, relative_position_bias},
};

}  // namespace

RuleTable attention_rules() { return attention_table; }

}  // namespace benanza::importer
