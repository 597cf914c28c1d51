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
    {.domain = microsoft, .type = "SoftmaxCrossEntropyGrad", .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxCrossEntropyLossGrad", .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxCrossEntropyLossInternal", .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxCrossEntropyLossInternalGrad", .inputs = {data}},
    {.domain = microsoft, .type = "SparseSoftmaxCrossEntropyGrad", .inputs = {data}},
};

}  // namespace benanza::operators
