// SPDX-License-Identifier: Apache-2.0
// Conversions to quantised tensors and back.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts quantization_operators[] = {
    {.type = "DequantizeLinear", .inputs = {data, setting, setting, data}, .demand = Demand::quantization},
    {.type = "DynamicQuantizeLinear", .inputs = {data}, .demand = Demand::dynamic_quantization},
    {.type = "QuantizeLinear", .inputs = {data, setting, setting, data}, .demand = Demand::quantization},
    {.domain = microsoft, .type = "DequantizeLinear", .shape = ShapeRule::dequantize, .inputs = {data}},
    {.domain = microsoft, .type = "DequantizeWithOrder", .shape = ShapeRule::dequantize_ordered, .inputs = {data}},
    {.domain = microsoft, .type = "QuantizeLinear", .shape = ShapeRule::quantize, .inputs = {data}},
    {.domain = microsoft, .type = "QuantizeWithOrder", .shape = ShapeRule::quantize_ordered, .inputs = {data}},
};

}  // namespace benanza::operators
