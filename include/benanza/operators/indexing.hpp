// SPDX-License-Identifier: Apache-2.0
// Operators that take or put elements at given places.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts indexing_operators[] = {
    {.type = "Compress", .inputs = {chosen, data}, .traits = {few_operations, sized_by_data}},
    {.type = "Gather",
     .inputs = {chosen, indices, data},
     .moves = Moves::selection,
     .demand = Demand::gather,
     .saves = Saves::indices,
     .quantized = QuantizedAs::codes},
    {.type = "GatherElements",
     .inputs = {chosen, indices, data},
     .demand = Demand::gather_places,
     .saves = Saves::indices},
    {.type = "GatherND", .inputs = {chosen, indices, data}, .demand = Demand::gather_places, .saves = Saves::indices},
    {.type = "NonMaxSuppression", .inputs = {chosen, data}, .traits = {sized_by_data}},
    {.type = "NonZero", .inputs = {data}, .traits = {few_operations, sized_by_data}},
    {.type = "OneHot", .inputs = {data, setting, data}, .traits = {makes_known}, .demand = Demand::one_hot},
    {.type = "Scatter", .inputs = {data, indices, data}, .demand = Demand::scatter},
    {.type = "ScatterElements",
     .inputs = {data, indices, data},
     .traits = {makes_known},
     .demand = Demand::scatter,
     .saves = Saves::indices},
    {.type = "ScatterND", .inputs = {data, indices, data}, .demand = Demand::scatter, .saves = Saves::indices},
    {.type = "TensorScatter", .inputs = {data}, .demand = Demand::cache_rows},
    {.type = "TfIdfVectorizer", .inputs = {data}},
    {.type = "Unique", .inputs = {data}, .traits = {few_operations, sized_by_data}},
    {.domain = classic, .type = "ArrayFeatureExtractor", .inputs = {data}, .traits = {few_operations}},
    {.domain = classic, .type = "CategoryMapper", .inputs = {data}, .traits = {few_operations}},
    {.domain = classic, .type = "DictVectorizer", .inputs = {data}, .traits = {few_operations}},
    {.domain = classic, .type = "FeatureVectorizer", .inputs = {data}, .traits = {few_operations}},
    {.domain = classic, .type = "LabelEncoder", .inputs = {data}, .traits = {few_operations}},
    {.domain = classic, .type = "OneHotEncoder", .inputs = {data}, .traits = {few_operations}},
    {.domain = own, .type = "GatherElementsGrad", .inputs = {data}},
    {.domain = own, .type = "GatherGrad", .inputs = {data}},
    {.domain = own, .type = "GatherNDGrad", .inputs = {data}, .traits = {few_operations}},
    {.domain = microsoft, .type = "GatherBlockQuantized", .inputs = {data}, .demand = Demand::table_row},
    {.domain = microsoft, .type = "GatherElementsGrad", .inputs = {data}},
    {.domain = microsoft, .type = "GatherGrad", .inputs = {data}},
    {.domain = microsoft, .type = "GatherND", .inputs = {chosen, indices, data}},
    {.domain = microsoft, .type = "GatherNDGrad", .inputs = {data}},
    {.domain = microsoft, .type = "MurmurHash3", .inputs = {data}},
    {.domain = microsoft, .type = "NGramRepeatBlock", .inputs = {data}},
    {.domain = microsoft, .type = "TorchEmbedding", .inputs = {data}, .demand = Demand::table_row},
    {.domain = microsoft, .type = "Unique", .inputs = {data}, .traits = {few_operations, sized_by_data}},
};

}  // namespace benanza::operators
