// SPDX-License-Identifier: Apache-2.0
// Shape rules of element-wise functions, of normalisations, and of their quantised forms.
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "rule_tables.hpp"

namespace benanza::importer {

Ints reduced_dims(const RuleArguments& a, const Ints& dims) {
  const Ints axes = a.node.attribute<Ints>("axes", {});
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const auto axis : axes) reduced[normal_axis(axis, dims.size())] = true;
  Ints left;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!reduced[i] || a.node.attribute<std::int64_t>("keepdims", 1) != 0) left.push_back(reduced[i] ? 1 : dims[i]);
  return left;
}

namespace {

RuleResult reduced(const RuleArguments& a) { return {TypedShape{a.in(0).type, reduced_dims(a, a.in(0).dims)}}; }
RuleResult reduced_to_i32(const RuleArguments& a) { return {TypedShape{DataType::i32, reduced_dims(a, a.in(0).dims)}}; }

// A, A_zero_point, B, B_zero_point
RuleResult integer_product(const RuleArguments& a) {
  return {TypedShape{DataType::i32, broadcast_shapes(a.in(0).dims, a.in(2).dims)}};
}

// condition, X, x_scale, x_zero_point, Y, ...
RuleResult q_where(const RuleArguments& a) {
  return {TypedShape{a.in(1).type, broadcast_shapes(a.in(0).dims, broadcast_shapes(a.in(1).dims, a.in(4).dims))}};
}

RuleResult quantize(const RuleArguments& a) {
  return {TypedShape{a.has(2) ? a.in(2).type : DataType::u8, a.in(0).dims}};
}
RuleResult dequantize(const RuleArguments& a) { return {TypedShape{a.in(1).type, a.in(0).dims}}; }
RuleResult quantize_ordered(const RuleArguments& a) { return {TypedShape{DataType::i8, a.in(0).dims}}; }
RuleResult dequantize_ordered(const RuleArguments& a) {
  return {TypedShape{type_attribute(a, "to", DataType::f32), a.in(0).dims}};
}

// y, mean, inverse standard deviation, and the sum of input and skip if there is one.
RuleResult normalization(const RuleArguments& a) {
  Ints rows = a.in(0).dims;
  if (!rows.empty()) rows.back() = 1;
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{DataType::f32, rows}, TypedShape{DataType::f32, rows},
          TypedShape{a.in(0).type, a.in(0).dims}};
}

RuleResult group_normalization_of_sum(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{a.in(0).type, a.in(0).dims}};
}

// input_ids, segment_ids, word_embedding, ...: normalised embeddings, an index of the mask, the unnormalised sum
RuleResult embed_normalization(const RuleArguments& a) {
  const Ints& ids = of_rank(a, 0, 2);
  const Value& words = a.in(2);
  const DataType type = a.node.op_type.starts_with('Q') ? a.in(8).type : words.type;
  const Ints dims{ids[0], ids[1], of_rank(a, 2, 2)[1]};
  return {TypedShape{type, dims}, TypedShape{DataType::i32, {ids[0]}}, TypedShape{type, dims}};
}

RuleResult halved(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  if (dims.empty()) throw InputError("a scalar, expected rows to halve");
  dims.back() /= 2;
  return {TypedShape{a.in(0).type, dims}};
}

// Before operator set 10 the mask has the type of the data.
RuleResult dropout(const RuleArguments& a) {
  const bool numbers = a.node.op_type == "Dropout" && a.node.opset < 10;
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{numbers ? a.in(0).type : DataType::boolean, a.in(0).dims}};
}

// x, scale, b, mean, variance: in training also new means and variances; before operator set 14 both the old and the
// new ones.
RuleResult batch_normalization(const RuleArguments& a) {
  const TypedShape mean{a.in(3).type, a.in(3).dims}, variance{a.in(4).type, a.in(4).dims};
  return {TypedShape{a.in(0).type, a.in(0).dims}, mean, variance, mean, variance};
}
// 32 flags of the mask in each element
RuleResult bitmask_dropout(const RuleArguments& a) {
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{DataType::u32, {(a.in(0).elements() + 31) / 32}}};
}

RuleResult truth_value(const RuleArguments&) { return {TypedShape{DataType::boolean, {}}}; }

RuleResult hash(const RuleArguments& a) {
  const bool positive = a.node.attribute<std::int64_t>("positive", 1) != 0;
  return {TypedShape{positive ? DataType::u32 : DataType::i32, a.in(0).dims}};
}

constexpr RuleEntry elementwise_table[] = {
    {ShapeRule::batch_normalization, batch_normalization},
    {ShapeRule::dropout, dropout},
    {ShapeRule::halved, halved},
    {ShapeRule::bitmask_dropout, bitmask_dropout},
    {ShapeRule::dequantize, dequantize},
    {ShapeRule::dequantize_ordered, dequantize_ordered},
    {ShapeRule::embed_normalization, embed_normalization},
    {ShapeRule::truth_value, truth_value},
    {ShapeRule::normalization, normalization},
    {ShapeRule::integer_product, integer_product},
    {ShapeRule::hashes, hash},
    {ShapeRule::quantized_broadcast, broadcast_of<0, 3>},
    {ShapeRule::reduced, reduced},
    {ShapeRule::q_where, q_where},
    {ShapeRule::quantize, quantize},
    {ShapeRule::quantize_ordered, quantize_ordered},
    {ShapeRule::reduced_to_i32, reduced_to_i32},
    {ShapeRule::group_normalization_of_sum, group_normalization_of_sum},
};

}  // namespace

RuleTable elementwise_rules() { return elementwise_table; }

}  // namespace benanza::importer
