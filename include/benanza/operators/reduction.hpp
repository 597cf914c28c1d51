// SPDX-License-Identifier: Apache-2.0
// Reductions, cumulative sums and ranks.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts reduction_operators[] = {
    {.type = "ArgMax", .inputs = {data}, .traits = {makes_known, picks}, .demand = Demand::reduction},
    {.type = "ArgMin", .inputs = {data}, .traits = {makes_known, picks}, .demand = Demand::reduction},
    {.type = "CumProd", .inputs = {data, axis, data}, .demand = Demand::cumulation, .saves = Saves::both},
    {.type = "CumSum", .inputs = {data, axis, data}, .demand = Demand::cumulation},
    {.type = "ReduceL1",
     .inputs = {data, setting, data},
     .traits = {sums},
     .demand = Demand::reduction,
     .saves = Saves::operand},
    {.type = "ReduceL2",
     .inputs = {data, setting, data},
     .traits = {sums},
     .demand = Demand::reduction,
     .saves = Saves::both},
    {.type = "ReduceLogSum", .inputs = {data, setting, data}, .demand = Demand::reduction, .saves = Saves::operand},
    {.type = "ReduceLogSumExp", .inputs = {data, setting, data}, .demand = Demand::reduction, .saves = Saves::both},
    {.type = "ReduceMax",
     .inputs = {data, setting, data},
     .traits = {picks},
     .demand = Demand::reduction,
     .saves = Saves::both},
    {.type = "ReduceMean",
     .inputs = {data, setting, data},
     .traits = {sums, picks},
     .demand = Demand::reduction,
     .quantized = QuantizedAs::unary},
    {.type = "ReduceMin",
     .inputs = {data, setting, data},
     .traits = {picks},
     .demand = Demand::reduction,
     .saves = Saves::both},
    {.type = "ReduceProd", .inputs = {data, setting, data}, .demand = Demand::reduction, .saves = Saves::both},
    {.type = "ReduceSum", .inputs = {data, setting, data}, .traits = {sums}, .demand = Demand::reduction},
    {.type = "ReduceSumSquare",
     .inputs = {data, setting, data},
     .traits = {sums},
     .demand = Demand::reduction,
     .saves = Saves::operand},
    {.type = "TopK", .inputs = {data, setting, data}, .traits = {makes_known}},
    {.domain = microsoft, .type = "IsAllFinite", .inputs = {data}},
    {.domain = microsoft, .type = "QLinearReduceMean", .inputs = {data}, .demand = Demand::reduction},
    {.domain = microsoft, .type = "ReduceSumInteger", .inputs = {data}},
    {.domain = microsoft, .type = "ReduceSumTraining", .inputs = {data}},
};

}  // namespace benanza::operators
