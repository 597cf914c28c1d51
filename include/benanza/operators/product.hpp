// SPDX-License-Identifier: Apache-2.0
// Products of matrices, and mixtures of experts.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts product_operators[] = {
    {.type = "Det", .inputs = {data}, .ranks = {{{0, 2, 0}}}},
    {.type = "Einsum", .inputs = {data}, .demand = Demand::einsum, .saves = Saves::factors},
    {.type = "Gemm",
     .inputs = {data},
     .traits = {whole_by_whole, weights},
     .demand = Demand::product,
     .saves = Saves::factors,
     .quantized = QuantizedAs::product},
    {.type = "MatMul",
     .inputs = {data},
     .traits = {whole_by_whole, weights},
     .demand = Demand::product,
     .saves = Saves::factors,
     .quantized = QuantizedAs::product},
    {.type = "MatMulInteger", .inputs = {data, data, setting, setting, data}, .demand = Demand::product},
    {.type = "QLinearMatMul",
     .inputs = {data, setting, setting, data, setting, setting, setting, setting, data},
     .demand = Demand::product},
    {.domain = microsoft, .type = "CDist", .inputs = {data}},
    {.domain = microsoft, .type = "DynamicQuantizeMatMul", .inputs = {data}, .demand = Demand::product},
    {.domain = microsoft, .type = "FusedGemm", .inputs = {data}, .demand = Demand::product},
    {.domain = microsoft,
     .type = "FusedMatMul",
     .inputs = {data},
     .traits = {as_layer},
     .demand = Demand::product,
     .saves = Saves::factors},
    {.domain = microsoft, .type = "FusedMatMulActivation", .inputs = {data}},
    {.domain = microsoft, .type = "GemmFastGelu", .inputs = {data}},
    {.domain = microsoft, .type = "GemmFloat8", .inputs = {data}},
    {.domain = microsoft, .type = "Inverse", .inputs = {data}},
    {.domain = microsoft, .type = "MatMulBnb4", .inputs = {data}},
    {.domain = microsoft, .type = "MatMulFpQ4", .inputs = {data}},
    {.domain = microsoft, .type = "MatMulInteger16", .inputs = {data}},
    {.domain = microsoft, .type = "MatMulIntegerToFloat", .inputs = {data}, .demand = Demand::product},
    {.domain = microsoft, .type = "MatMulNBits", .inputs = {data}, .demand = Demand::product},
    {.domain = microsoft, .type = "MatMulNBitsMlp", .inputs = {data}},
    {.domain = microsoft, .type = "MatMulNBitsQkv", .inputs = {data}},
    {.domain = microsoft, .type = "MoE", .inputs = {data}, .demand = Demand::experts},
    {.domain = microsoft,
     .type = "QGemm",
     .inputs = {data, setting, setting, data, setting, setting, data, setting, setting, data},
     .traits = {as_layer},
     .demand = Demand::product},
    {.domain = microsoft, .type = "QMoE", .inputs = {data}, .demand = Demand::experts},
    {.domain = microsoft, .type = "QOrderedMatMul", .inputs = {data}},
    {.domain = microsoft, .type = "SparseToDenseMatMul", .inputs = {data}},
    {.domain = microsoft, .type = "TransposeMatMul", .inputs = {data}, .demand = Demand::product},
};

}  // namespace benanza::operators
