// SPDX-License-Identifier: Apache-2.0
// Conversions to quantised tensors and back.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts quantization_operators[] = {
    {.type = "DequantizeLinear", .inputs = {data, setting, setting, data}, .demand = Demand::quantization},
    {.type = "DynamicQuantizeLinear", .inputs = {data}, .demand = Demand::dynamic_quantization},
    {.type = "QuantizeLinear", .inputs = {data, setting, setting, data}, .demand = Demand::quantization},
    {.domain = microsoft, .type = "DequantizeLinear", .inputs = {data}},
    {.domain = microsoft, .type = "DequantizeWithOrder", .inputs = {data}},
    {.domain = microsoft, .type = "QuantizeLinear", .inputs = {data}},
    {.domain = microsoft, .type = "QuantizeWithOrder", .inputs = {data}},
};

}  // namespace benanza::operators
