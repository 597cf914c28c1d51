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
    // The ONNX library does not crop output_padding.
    {.type = "ConvTranspose",
     .shape = ShapeRule::transposed_convolution,
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
    {.type = "ConvGrad", .shape = ShapeRule::convolution_gradient},
    {.domain = own, .type = "ConvGradData", .inputs = {data}},
    {.domain = own, .type = "ConvGradWeights", .inputs = {data}},
    {.domain = microsoft, .type = "CausalConvWithState", .shape = ShapeRule::convolution_with_state, .inputs = {data}},
    {.domain = microsoft, .type = "ConvGrad", .shape = ShapeRule::convolution_gradient, .inputs = {data}},
    {.domain = microsoft,
     .type = "ConvTransposeWithDynamicPads",
     .shape = ShapeRule::transpose_of_given_pads,
     .inputs = {chosen}},
    {.domain = microsoft, .type = "FusedConv", .shape = ShapeRule::convolution, .inputs = {data}},
    {.domain = microsoft, .type = "NhwcConv", .shape = ShapeRule::convolution, .inputs = {data}},
    {.domain = microsoft, .type = "NhwcFusedConv", .shape = ShapeRule::convolution, .inputs = {chosen, data}},
    {.domain = microsoft, .type = "QLinearConv", .shape = ShapeRule::quantized_convolution, .inputs = {data}},
    {.domain = microsoft,
     .type = "WordConvEmbedding",
     .shape = ShapeRule::word_embedding,
     .inputs = {data, data, data, chosen, data}},
    {.domain = nchwc, .type = "Conv", .shape = ShapeRule::convolution, .inputs = {data}},
    {.domain = nhwc, .type = "Conv", .shape = ShapeRule::convolution},
    {.domain = nhwc, .type = "QLinearConv", .shape = ShapeRule::quantized_convolution},
};

}  // namespace benanza::operators
