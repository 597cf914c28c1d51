// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors from no data: constants and random numbers.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts generation_operators[] = {
    {.type = "Bernoulli", .inputs = {data}, .traits = {random, few_operations}, .gradient = Gradient::none},
    {.type = "Constant", .inputs = {data}},
    {.type = "ConstantOfShape", .inputs = {target, data}},
    {.type = "EyeLike",
     .inputs = {size, data},
     .traits = {makes_known},
     .demand = Demand::unread,
     .gradient = Gradient::none},
    {.type = "Multinomial", .inputs = {data}, .traits = {random, few_operations}},
    {.type = "RandomNormal", .inputs = {data}, .traits = {random, few_operations}},
    {.type = "RandomNormalLike",
     .inputs = {size, data},
     .traits = {random, few_operations},
     .demand = Demand::unread,
     .gradient = Gradient::none},
    {.type = "RandomUniform", .inputs = {data}, .traits = {random, few_operations}},
    {.type = "RandomUniformLike",
     .inputs = {size, data},
     .traits = {random, few_operations},
     .demand = Demand::unread,
     .gradient = Gradient::none},
    {.type = "Range", .inputs = {setting, setting, setting, data}},
    {.domain = microsoft, .type = "Range", .shape = ShapeRule::range_of_numbers, .inputs = {data}},
    {.domain = microsoft, .type = "SampleOp", .shape = ShapeRule::like_first, .inputs = {data}},
};

}  // namespace benanza::operators
