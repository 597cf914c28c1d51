// SPDX-License-Identifier: Apache-2.0
// Attention, rotations and biases of positions.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts attention_operators[] = {
    {.type = "Attention",
     .inputs = {data, chosen, chosen, chosen, chosen, chosen, data},
     .ranks = {{{1, 3, 0}, {2, 3, 0}, {4, 4, 4}, {5, 4, 5}}}},
    {.type = "LinearAttention", .inputs = {data}},
    {.type = "RotaryEmbedding", .inputs = {data, chosen, chosen, data}},
    {.domain = "ai.onnx.preview", .type = "FlexAttention", .inputs = {data}},
    {.domain = microsoft,
     .type = "Attention",
     .inputs = {data, data, data, chosen, chosen, chosen, data},
     .traits = {keeps_cache}},
    {.domain = microsoft,
     .type = "DecoderAttention",
     .inputs = {data, chosen, data, chosen, data, chosen, chosen, chosen, data}},
    {.domain = microsoft,
     .type = "DecoderMaskedMultiHeadAttention",
     .inputs = {data, data, data, chosen, chosen, chosen, chosen, data, data, chosen, data},
     .traits = {keeps_cache}},
    {.domain = microsoft,
     .type = "DecoderMaskedSelfAttention",
     .inputs = {data, data, data, chosen, chosen, chosen, data, data, chosen, data},
     .traits = {keeps_cache}},
    {.domain = microsoft, .type = "GatedRelativePositionBias", .inputs = {data}},
    {.domain = microsoft, .type = "GemmaRotaryEmbedding", .inputs = {data}},
    {.domain = microsoft,
     .type = "GroupQueryAttention",
     .inputs = {data, data, data, chosen, chosen, data, data, chosen, chosen, data, chosen, data},
     .traits = {keeps_cache, as_layer}},
    {.domain = microsoft, .type = "LongformerAttention", .inputs = {data, data, data, data, chosen, chosen, data}},
    {.domain = microsoft, .type = "MRotaryEmbedding", .inputs = {data, data, chosen, chosen, data}},
    {.domain = microsoft, .type = "MultiHeadAttention", .inputs = {data}, .traits = {as_layer}},
    {.domain = microsoft, .type = "PackedAttention", .inputs = {data}},
    {.domain = microsoft, .type = "PackedMultiHeadAttention", .inputs = {data}},
    {.domain = microsoft,
     .type = "PagedAttention",
     .inputs = {data, data, data, chosen, chosen, data, data, chosen, chosen, chosen, data},
     .traits = {keeps_cache}},
    {.domain = microsoft,
     .type = "QAttention",
     .inputs = {data, data, data, data, data, chosen, data, data, chosen, data},
     .traits = {keeps_cache}},
    {.domain = microsoft, .type = "QOrderedAttention", .inputs = {data}},
    {.domain = microsoft, .type = "QOrderedLongformerAttention", .inputs = {data}},
    {.domain = microsoft, .type = "RelativePositionBias", .inputs = {chosen, data}},
    {.domain = microsoft, .type = "RotaryEmbedding", .inputs = {data, data, chosen, chosen, data}},
    {.domain = microsoft,
     .type = "SparseAttention",
     .inputs = {data, data, data, chosen, chosen, chosen, chosen, data, data, chosen, chosen, data},
     .traits = {keeps_cache}},
};

}  // namespace benanza::operators
