// SPDX-License-Identifier: Apache-2.0
// Convolutions, and what folds or unfolds their windows.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts convolution_operators[] = {
    {.type = "CausalConvWithState", .inputs = {data}},
    {.type = "Col2Im", .inputs = {chosen, target, divisor, data}, .ranks = {{{0, 2, 0}}}, .demand = Demand::first_axis},
    {.type = "Conv",
     .inputs = {data},
     .traits = {whole_by_whole, weights},
     .ranks = {{{1, 2, 0}}},
     .gradient = Gradient::conv,
     .differentiable = 3,
     .saves = Saves::factors,
     .quantized = QuantizedAs::product},
    {.type = "ConvInteger", .inputs = {data, data, setting, setting, data}, .ranks = {{{1, 2, 0}}}},
    {.type = "ConvTranspose",
     .inputs = {data},
     .traits = {weights},
     .ranks = {{{1, 2, 0}}},
     .gradient = Gradient::conv_transpose,
     .differentiable = 3,
     .saves = Saves::factors},
    {.type = "DeformConv",
     .inputs = {chosen, data},
     .traits = {weights},
     .ranks = {{{1, 2, 0}, {2, 2, 0}}},
     .demand = Demand::deformed_windows},
    {.type = "QLinearConv",
     .inputs = {data, setting, setting, data, setting, setting, setting, setting, data},
     .ranks = {{{3, 2, 0}}}},
    {.domain = own, .type = "ConvGradData", .inputs = {data}},
    {.domain = own, .type = "ConvGradWeights", .inputs = {data}},
    {.domain = microsoft, .type = "CausalConvWithState", .inputs = {data}},
    {.domain = microsoft, .type = "ConvGrad", .inputs = {data}},
    {.domain = microsoft, .type = "ConvTransposeWithDynamicPads", .inputs = {chosen}},
    {.domain = microsoft, .type = "FusedConv", .inputs = {data}},
    {.domain = microsoft, .type = "NhwcConv", .inputs = {data}},
    {.domain = microsoft, .type = "NhwcFusedConv", .inputs = {chosen, data}},
    {.domain = microsoft, .type = "QLinearConv", .inputs = {data}},
    {.domain = microsoft, .type = "WordConvEmbedding", .inputs = {data, data, data, chosen, data}},
    {.domain = nchwc, .type = "Conv", .inputs = {data}},
    {.domain = nhwc, .type = "Conv"},
    {.domain = nhwc, .type = "QLinearConv"},
};

}  // namespace benanza::operators
