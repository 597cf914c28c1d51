// SPDX-License-Identifier: Apache-2.0
// What writes without reading.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/generation.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <optional>

namespace benanza::op {

BENANZA_INLINE std::optional<Generate> Generate::from(const Node& node, const Graph& graph) {
  const auto at = std::find(onnx_types.begin(), onnx_types.end(), detail::onnx_type(node));
  if (at == onnx_types.end()) return std::nullopt;
  const Value& y_value = graph.output(node, 0);
  Generate generate{
      .type = y_value.type, .fn = static_cast<GenerateFn>(at - onnx_types.begin()), .y = {y_value.elements()}};
  if (generate.fn != GenerateFn::eye) return generate;
  if (y_value.dims.size() != 2) return std::nullopt;
  generate.y = {y_value.dims[0], y_value.dims[1]};
  return generate;
}

BENANZA_INLINE Operands Generate::operands() const {
  Operands result{.outputs = {{.name = "output", .type = type, .shape = y}}};
  if (fn == GenerateFn::range)
    for (const auto* name : {"start", "delta"}) result.inputs.push_back({.name = name, .type = type, .shape = {}});
  return result;
}

BENANZA_INLINE Arithmetic Generate::arithmetic() const {
  if (fn == GenerateFn::constant || fn == GenerateFn::eye) return {};
  return {.flops = static_cast<double>(element_count(y))};
}

BENANZA_INLINE bool Generate::consistent() const { return detail::are_sizes(y, fn == GenerateFn::eye ? 2 : 1); }

}  // namespace benanza::op
