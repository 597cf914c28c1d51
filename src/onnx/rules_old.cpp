// SPDX-License-Identifier: Apache-2.0
// Shape rules for operator sets in which the ONNX library has none.
#include "rule_tables.hpp"

namespace benanza::importer {
namespace {

RuleResult boolean_broadcast(const RuleArguments& a) {
  return {TypedShape{DataType::boolean, broadcast_shapes(a.in(0).dims, a.in(1).dims)}};
}

// As many elements, or slices along the axis, as the condition selects, which depends on data.
RuleResult compress(const RuleArguments& a) {
  Ints dims{0};
  if (a.node.attributes.contains("axis")) {
    dims = a.in(0).dims;
    dims[normal_axis(a.node.attribute<std::int64_t>("axis", 0), dims.size())] = 0;
  }
  return {TypedShape{a.in(0).type, dims}};
}

RuleResult concat_1(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", 1), dims.size());
  for (std::size_t i = 1; i < a.inputs.size(); ++i)
    dims[axis] += a.in(i).dims.size() == dims.size() ? a.in(i).dims[axis] : throw InputError("inputs differ in rank");
  return {TypedShape{a.in(0).type, dims}};
}

// y, mean, inverse standard deviation; the simplified one has no mean
RuleResult normalization_from(const RuleArguments& a) {
  Ints rows = a.in(0).dims;
  const std::size_t axis = normal_axis(a.node.attribute<std::int64_t>("axis", -1), rows.size());
  std::fill(rows.begin() + static_cast<std::ptrdiff_t>(axis), rows.end(), 1);
  return {TypedShape{a.in(0).type, a.in(0).dims}, TypedShape{DataType::f32, rows}, TypedShape{DataType::f32, rows}};
}

// An experimental operator of the first sets. Its attributes are what is cut off at the left, the top, the right and
// the bottom, or the size that remains.
RuleResult crop(const RuleArguments& a) {
  Ints dims = of_rank(a, 0, 4);
  const Ints border = a.node.attribute<Ints>("border", {}), scale = a.node.attribute<Ints>("scale", {});
  if (border.size() != 4)
    throw InputError("attribute 'border' has " + std::to_string(border.size()) + " numbers, expected 4");
  dims[2] = scale.size() == 2 ? scale[0] : dims[2] - border[1] - border[3];
  dims[3] = scale.size() == 2 ? scale[1] : dims[3] - border[0] - border[2];
  if (dims[2] < 0 || dims[3] < 0) throw InputError("more is cut off than there is");
  return {TypedShape{a.in(0).type, dims}};
}

// Pad 1
RuleResult pad_by_attribute(const RuleArguments& a) {
  Ints dims = a.in(0).dims;
  const Ints pads = a.node.attribute<Ints>("paddings", {});
  if (pads.size() != 2 * dims.size())
    throw InputError("attribute 'paddings' has " + std::to_string(pads.size()) + " numbers, expected " +
                     std::to_string(2 * dims.size()));
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] += pads[i] + pads[i + dims.size()];
  return {TypedShape{a.in(0).type, dims}};
}

// Reshape 1: 0 keeps a dimension of the input, and -1 is what remains.
RuleResult reshape_by_attribute(const RuleArguments& a) {
  const Value& x = a.in(0);
  Ints dims = a.node.attribute<Ints>("shape", {});
  std::optional<std::size_t> rest;
  std::int64_t known = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && i < x.dims.size()) dims[i] = x.dims[i];
    if (dims[i] == -1 && !rest) rest = i;
    else known = checked_product(known, dims[i]);
  }
  if (rest && known > 0) dims[*rest] = x.elements() / known;
  if (element_count(dims) != x.elements())
    throw InputError("an input of shape " + shape_text(x.dims) + " as " + shape_text(dims));
  return {TypedShape{x.type, dims}};
}

constexpr RuleEntry old_table[] = {
    {ShapeRule::compress, compress},
    {ShapeRule::concat_of_set_1, concat_1},
    {ShapeRule::crop, crop},
    {ShapeRule::boolean_broadcast, boolean_broadcast},
    {ShapeRule::normalization_from, normalization_from},
    {ShapeRule::pad_by_attribute, pad_by_attribute},
    {ShapeRule::reshape_by_attribute, reshape_by_attribute},
};

}  // namespace

RuleTable old_rules() { return old_table; }

}  // namespace benanza::importer
