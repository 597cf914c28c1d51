// SPDX-License-Identifier: Apache-2.0
// Recurrent layers.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts recurrent_operators[] = {
    {.type = "GRU",
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.type = "LSTM",
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.type = "RNN",
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.domain = own, .type = "GRUGrad", .inputs = {data}},
    {.domain = own, .type = "LSTMGrad", .inputs = {data}},
    {.domain = own, .type = "RNNGrad", .inputs = {data}},
    {.domain = microsoft, .type = "AttnLSTM", .inputs = {data}},
    {.domain = microsoft, .type = "DynamicQuantizeLSTM", .inputs = {data}, .demand = Demand::recurrence},
    {.domain = microsoft, .type = "DynamicTimeWarping", .inputs = {data}, .traits = {sized_by_data}},
};

}  // namespace benanza::operators
