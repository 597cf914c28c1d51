// SPDX-License-Identifier: Apache-2.0
// Normalisations, softmax and similar operators.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts normalization_operators[] = {
    {.type = "BatchNormalization",
     .inputs = {data},
     .traits = {whole_by_whole, weights, normalizes},
     .saves = Saves::norm},
    {.type = "GroupNormalization", .inputs = {data}, .traits = {weights, normalizes}, .saves = Saves::norm},
    {.type = "Hardmax", .inputs = {data}, .traits = {makes_known}},
    {.type = "InstanceNormalization", .inputs = {data}, .traits = {weights, normalizes}, .saves = Saves::norm},
    {.type = "LRN", .inputs = {data}, .demand = Demand::channel_window, .saves = Saves::both},
    {.type = "LayerNormalization", .inputs = {data}, .traits = {weights, normalizes}, .saves = Saves::norm},
    {.type = "LogSoftmax", .inputs = {data}, .saves = Saves::result},
    {.type = "LpNormalization", .inputs = {data}},
    {.type = "MeanVarianceNormalization", .inputs = {data}, .demand = Demand::mean_variance},
    {.type = "RMSNormalization", .inputs = {data}, .traits = {weights, normalizes}, .saves = Saves::norm},
    {.type = "SimplifiedLayerNormalization", .inputs = {data}},
    {.type = "Softmax", .inputs = {data}, .saves = Saves::result},
    {.domain = classic, .type = "Normalizer", .inputs = {data}, .traits = {few_operations}},
    {.domain = own, .type = "BatchNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "GroupNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "InstanceNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "LayerNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "LogSoftmaxGrad", .inputs = {data}},
    {.domain = own, .type = "RMSNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "SimplifiedLayerNormalizationGrad", .inputs = {data}},
    {.domain = own, .type = "SoftmaxGrad", .inputs = {data}},
    {.domain = microsoft, .type = "BatchNormInternal", .inputs = {data}},
    {.domain = microsoft, .type = "BatchNormalizationGrad", .inputs = {data}},
    {.domain = microsoft, .type = "BiasSoftmax", .inputs = {data}},
    {.domain = microsoft, .type = "BranchwiseRMSNorm", .inputs = {data}},
    {.domain = microsoft,
     .type = "EmbedLayerNormalization",
     .inputs = {data},
     .traits = {few_operations},
     .demand = Demand::embeddings},
    {.domain = microsoft, .type = "GatedRMSNorm", .inputs = {data}},
    {.domain = microsoft, .type = "GroupNorm", .inputs = {data}},
    {.domain = microsoft, .type = "LayerNormalization", .inputs = {data}},
    {.domain = microsoft, .type = "LayerNormalizationGrad", .inputs = {data}},
    {.domain = microsoft, .type = "LogSoftmaxGrad", .inputs = {data}},
    {.domain = microsoft, .type = "QEmbedLayerNormalization", .inputs = {data, data, chosen, chosen, chosen, data}},
    {.domain = microsoft, .type = "QLinearSoftmax", .inputs = {data}, .demand = Demand::softmax},
    {.domain = microsoft, .type = "QOrderedLayerNormalization", .inputs = {data}},
    {.domain = microsoft, .type = "SimplifiedLayerNormalization", .inputs = {data}},
    {.domain = microsoft, .type = "SimplifiedLayerNormalizationGrad", .inputs = {data}},
    {.domain = microsoft, .type = "SkipGroupNorm", .inputs = {data}},
    {.domain = microsoft, .type = "SkipLayerNormalization", .inputs = {data}},
    {.domain = microsoft, .type = "SkipSimplifiedLayerNormalization", .inputs = {data}},
    {.domain = microsoft, .type = "SoftmaxGrad", .inputs = {data}},
};

}  // namespace benanza::operators
