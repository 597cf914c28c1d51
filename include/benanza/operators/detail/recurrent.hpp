// SPDX-License-Identifier: Apache-2.0
// Recurrent layers.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts recurrent_operators[] = {
    {.type = "GRU",
     .shape = ShapeRule::recurrent_states,
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .sizes = "* * i, d 3h i, d 3h h, d 6h, *, * * h",
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.type = "LSTM",
     .shape = ShapeRule::recurrent_states,
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .sizes = "* * i, d 4h i, d 4h h, d 8h, *, * * h, * * h, d 3h",
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.type = "RNN",
     .shape = ShapeRule::recurrent_states,
     .inputs = {data, data, data, data, setting, data},
     .traits = {recurrent, weights},
     .sizes = "* * i, d h i, d h h, d 2h, *, * * h",
     .demand = Demand::recurrence,
     .gradient = Gradient::recurrent,
     .differentiable = all_inputs},
    {.domain = own, .type = "GRUGrad", .inputs = {data}},
    {.domain = own, .type = "LSTMGrad", .inputs = {data}},
    {.domain = own, .type = "RNNGrad", .inputs = {data}},
    {.domain = microsoft, .type = "AttnLSTM", .shape = ShapeRule::recurrent_states, .inputs = {data}},
    {.domain = microsoft,
     .type = "DynamicQuantizeLSTM",
     .shape = ShapeRule::recurrent_states,
     .inputs = {data},
     .demand = Demand::recurrence},
    {.domain = microsoft,
     .type = "DynamicTimeWarping",
     .shape = ShapeRule::path_of_least_cost,
     .inputs = {data},
     .traits = {sized_by_data}},
};

}  // namespace benanza::operators
