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
    {.domain = microsoft, .type = "AdamOptimizer", .shape = ShapeRule::adam, .inputs = {data}},
    {.domain = microsoft, .type = "AdamWOptimizer", .shape = ShapeRule::adamw_of_sequences, .inputs = {data}},
    {.domain = microsoft, .type = "InPlaceAccumulator", .shape = ShapeRule::like_first, .inputs = {data}},
    {.domain = microsoft, .type = "InPlaceAccumulatorV2", .shape = ShapeRule::accumulator, .inputs = {chosen, data}},
    {.domain = microsoft, .type = "SGDOptimizer", .shape = ShapeRule::sgd, .inputs = {data}},
    {.domain = microsoft, .type = "SGDOptimizerV2", .shape = ShapeRule::sgd_of_sequences, .inputs = {data}},
    {.domain = microsoft, .type = "ZeroGradient", .shape = ShapeRule::like_first, .inputs = {data}},
};

}  // namespace benanza::operators
