// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts optimizer_operators[] = {
    {.domain = preview, .type = "Adagrad", .inputs = {data}},
    {.domain = preview, .type = "Adam", .inputs = {data}},
    {.domain = preview, .type = "Gradient", .inputs = {data}},
    {.domain = preview, .type = "Momentum", .inputs = {data}},
    {.domain = own, .type = "OptimizerStep", .inputs = {data}},
    {.domain = microsoft, .type = "AdamOptimizer", .inputs = {data}},
    {.domain = microsoft, .type = "AdamWOptimizer", .inputs = {data}},
    {.domain = microsoft, .type = "InPlaceAccumulator", .inputs = {data}},
    {.domain = microsoft, .type = "InPlaceAccumulatorV2", .inputs = {chosen, data}},
    {.domain = microsoft, .type = "SGDOptimizer", .inputs = {data}},
    {.domain = microsoft, .type = "SGDOptimizerV2", .inputs = {data}},
    {.domain = microsoft, .type = "ZeroGradient", .inputs = {data}},
};

}  // namespace benanza::operators
