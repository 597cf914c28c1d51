// SPDX-License-Identifier: Apache-2.0
// Pooling.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts pooling_operators[] = {
    // The ONNX library counts windows that start in the padding before version 22.
    {.type = "AveragePool",
     .shape = ShapeRule::window_pool,
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
    {.type = "GlobalLpPool",
     .absent_shape = ShapeRule::global_pool,
     .inputs = {data},
     .gradient = Gradient::lp_pool,
     .differentiable = 1},
    {.type = "GlobalMaxPool", .inputs = {data}, .quantized = QuantizedAs::codes},
    {.type = "LpPool",
     .shape = ShapeRule::window_pool,
     .inputs = {data},
     .gradient = Gradient::lp_pool,
     .differentiable = 1,
     .saves = Saves::both},
    {.type = "MaxPool",
     .shape = ShapeRule::window_pool,
     .inputs = {data},
     .gradient = Gradient::pool,
     .differentiable = 1,
     .saves = Saves::max_pool,
     .quantized = QuantizedAs::codes},
    {.type = "MaxRoiPool", .inputs = {chosen, data}, .ranks = {{{0, 2, 0}, {1, 1, 1}}}},
    {.type = "MaxUnpool", .inputs = {data, data, target, data}, .traits = {few_operations}},
    {.type = "AveragePoolGrad", .shape = ShapeRule::pool_gradient},  // as old graphs of ONNX Runtime have it
    {.type = "MaxPoolGrad", .shape = ShapeRule::pool_gradient},
    {.domain = own, .type = "AveragePoolGrad", .inputs = {data}},
    {.domain = own, .type = "GlobalAveragePoolGrad", .inputs = {data}},
    {.domain = own, .type = "MaxPoolGrad", .inputs = {data}},
    {.domain = microsoft, .type = "AveragePoolGrad", .shape = ShapeRule::pool_gradient, .inputs = {data}},
    {.domain = microsoft, .type = "MaxPoolGrad", .shape = ShapeRule::pool_gradient, .inputs = {data}},
    {.domain = microsoft, .type = "MaxpoolWithMask", .shape = ShapeRule::window_pool, .inputs = {chosen}},
    {.domain = microsoft, .type = "NhwcMaxPool", .shape = ShapeRule::window_pool, .inputs = {data}},
    {.domain = microsoft, .type = "QLinearAveragePool", .shape = ShapeRule::window_pool, .inputs = {data}},
    {.domain = microsoft, .type = "QLinearGlobalAveragePool", .shape = ShapeRule::global_pool, .inputs = {data}},
    {.domain = nchwc, .type = "AveragePool", .shape = ShapeRule::window_pool, .inputs = {data}},
    {.domain = nchwc, .type = "GlobalAveragePool", .shape = ShapeRule::global_pool, .inputs = {data}},
    {.domain = nchwc, .type = "GlobalMaxPool", .shape = ShapeRule::global_pool, .inputs = {data}},
    {.domain = nchwc, .type = "MaxPool", .shape = ShapeRule::window_pool, .inputs = {data}},
    {.domain = nhwc, .type = "AveragePool", .shape = ShapeRule::window_pool},
    {.domain = nhwc, .type = "GlobalAveragePool", .shape = ShapeRule::global_pool},
    {.domain = nhwc, .type = "GlobalMaxPool", .shape = ShapeRule::global_pool},
    {.domain = nhwc, .type = "MaxPool", .shape = ShapeRule::window_pool},
    {.domain = nhwc, .type = "QLinearAveragePool", .shape = ShapeRule::window_pool},
};

}  // namespace benanza::operators
