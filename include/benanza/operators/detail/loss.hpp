// SPDX-License-Identifier: Apache-2.0
// Losses.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts loss_operators[] = {
    {.type = "NegativeLogLikelihoodLoss",
     .inputs = {data},
     .gradient = Gradient::loss,
     .differentiable = 1,
     .saves = Saves::loss},
    {.type = "SoftmaxCrossEntropyLoss",
     .inputs = {data},
     .gradient = Gradient::loss,
     .differentiable = 1,
     .saves = Saves::loss},
    {.domain = own, .type = "NegativeLogLikelihoodLossGrad", .inputs = {data}},
    {.domain = own, .type = "SoftmaxCrossEntropyLossGrad", .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxCrossEntropyGrad", .shape = ShapeRule::like_second, .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxCrossEntropyLossGrad", .shape = ShapeRule::like_second, .inputs = {data}},
    {.domain = microsoft,
     .type = "SoftmaxCrossEntropyLossInternal",
     .shape = ShapeRule::loss_with_log_prob,
     .inputs = {data}},
    {.domain = microsoft,
     .type = "SoftmaxCrossEntropyLossInternalGrad",
     .shape = ShapeRule::like_second,
     .inputs = {data}},
    {.domain = microsoft, .type = "SparseSoftmaxCrossEntropyGrad", .shape = ShapeRule::like_second, .inputs = {data}},
};

}  // namespace benanza::operators
