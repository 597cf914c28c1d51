// SPDX-License-Identifier: Apache-2.0
// Conversion to and from quantized integers.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/detail/scaled_dims.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/quantization.hpp>

#include <optional>

namespace benanza::op {

BENANZA_INLINE std::optional<Quantize> Quantize::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto scaled = detail::scaled_dims(node, graph);
  if (!scaled) return std::nullopt;
  return Quantize{.type = x_value.type,
                  .to = graph.output(node, 0).type,
                  .x = scaled->x,
                  .dynamic = node.op_type == "DynamicQuantizeLinear",
                  .block = scaled->block};
}

BENANZA_INLINE Operands Quantize::operands() const {
  Operands result{.inputs = {{.name = "x", .type = type, .shape = x}},
                  .outputs = {{.name = "y", .type = to, .shape = x}}};
  if (dynamic) {
    result.outputs.push_back({.name = "y_scale", .type = type, .shape = {}});
    result.outputs.push_back({.name = "y_zero_point", .type = to, .shape = {}});
  } else {
    const TensorShape scales = detail::scales(x, block);
    result.inputs.push_back(
        {.name = "y_scale", .type = type, .shape = scales, .constant = true, .contents = Contents::positive});
    result.inputs.push_back({.name = "y_zero_point",
                             .type = to,
                             .shape = scales,
                             .constant = true,
                             .contents = Contents::indices,
                             .limit = 8});
  }
  return result;
}

BENANZA_INLINE Arithmetic Quantize::arithmetic() const {
  return {.flops = (dynamic ? 5.0 : 3.0) * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool Quantize::consistent() const {
  return detail::are_sizes(x, 3) && block >= 0 && block <= x[1] && !(dynamic && block > 0);
}

BENANZA_INLINE std::optional<Dequantize> Dequantize::from(const Node& node, const Graph& graph) {
  const Value& x_value = graph.input(node, 0);
  const auto scaled = detail::scaled_dims(node, graph);
  if (!scaled) return std::nullopt;
  return Dequantize{.type = x_value.type, .to = graph.output(node, 0).type, .x = scaled->x, .block = scaled->block};
}

BENANZA_INLINE Operands Dequantize::operands() const {
  const TensorShape scales = detail::scales(x, block);
  return {.inputs = {{.name = "x", .type = type, .shape = x, .contents = Contents::indices, .limit = 100},
                     {.name = "x_scale", .type = to, .shape = scales, .constant = true, .contents = Contents::positive},
                     {.name = "x_zero_point",
                      .type = type,
                      .shape = scales,
                      .constant = true,
                      .contents = Contents::indices,
                      .limit = 8}},
          .outputs = {{.name = "y", .type = to, .shape = x}}};
}

BENANZA_INLINE Arithmetic Dequantize::arithmetic() const {
  return {.flops = 2.0 * static_cast<double>(element_count(x))};
}

BENANZA_INLINE bool Dequantize::consistent() const { return detail::are_sizes(x, 3) && block >= 0 && block <= x[1]; }

}  // namespace benanza::op
