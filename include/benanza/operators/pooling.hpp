// SPDX-License-Identifier: Apache-2.0
// Pooling.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts pooling_operators[] = {
    {.type = "AveragePool",
     .inputs = {data},
     .gradient = Gradient::pool,
     .differentiable = 1,
     .saves = Saves::operand,
     .quantized = QuantizedAs::unary},
    {.type = "GlobalAveragePool",
     .inputs = {data},
     .gradient = Gradient::pool,
     .differentiable = 1,
     .quantized = QuantizedAs::unary},
    {.type = "GlobalLpPool", .inputs = {data}, .gradient = Gradient::lp_pool, .differentiable = 1},
    {.type = "GlobalMaxPool", .inputs = {data}, .quantized = QuantizedAs::codes},
    {.type = "LpPool", .inputs = {data}, .gradient = Gradient::lp_pool, .differentiable = 1, .saves = Saves::both},
    {.type = "MaxPool",
     .inputs = {data},
     .gradient = Gradient::pool,
     .differentiable = 1,
     .saves = Saves::max_pool,
     .quantized = QuantizedAs::codes},
    {.type = "MaxRoiPool", .inputs = {chosen, data}, .ranks = {{{0, 2, 0}, {1, 1, 1}}}},
    {.type = "MaxUnpool", .inputs = {data, data, target, data}, .traits = {few_operations}},
    {.domain = own, .type = "AveragePoolGrad", .inputs = {data}},
    {.domain = own, .type = "GlobalAveragePoolGrad", .inputs = {data}},
    {.domain = own, .type = "MaxPoolGrad", .inputs = {data}},
    {.domain = microsoft, .type = "AveragePoolGrad", .inputs = {data}},
    {.domain = microsoft, .type = "MaxPoolGrad", .inputs = {data}},
    {.domain = microsoft, .type = "MaxpoolWithMask", .inputs = {chosen}},
    {.domain = microsoft, .type = "NhwcMaxPool", .inputs = {data}},
    {.domain = microsoft, .type = "QLinearAveragePool", .inputs = {data}},
    {.domain = microsoft, .type = "QLinearGlobalAveragePool", .inputs = {data}},
    {.domain = nchwc, .type = "AveragePool", .inputs = {data}},
    {.domain = nchwc, .type = "GlobalAveragePool", .inputs = {data}},
    {.domain = nchwc, .type = "GlobalMaxPool", .inputs = {data}},
    {.domain = nchwc, .type = "MaxPool", .inputs = {data}},
    {.domain = nhwc, .type = "AveragePool"},
    {.domain = nhwc, .type = "GlobalAveragePool"},
    {.domain = nhwc, .type = "GlobalMaxPool"},
    {.domain = nhwc, .type = "MaxPool"},
    {.domain = nhwc, .type = "QLinearAveragePool"},
};

}  // namespace benanza::operators
