// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and windows of signals.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts transform_operators[] = {
    {.type = "BlackmanWindow", .shape = ShapeRule::window_function, .inputs = {setting, data}},
    {.type = "DFT",
     .shape = ShapeRule::dft,
     .inputs = {data, setting, setting, data},
     .ranks = {{{0, 2, 0}}},
     .demand = Demand::transform},
    {.type = "HammingWindow", .shape = ShapeRule::window_function, .inputs = {setting, data}},
    {.type = "HannWindow", .shape = ShapeRule::window_function, .inputs = {setting, data}},
    {.type = "MelWeightMatrix", .shape = ShapeRule::mel_weight_matrix, .inputs = {data}},
    {.type = "STFT",
     .shape = ShapeRule::stft,
     .inputs = {data, divisor, data, setting, data},
     .ranks = {{{0, 2, 0}, {2, 1, 2}}},
     .demand = Demand::frames},
    {.domain = microsoft, .type = "Irfft", .shape = ShapeRule::inverse_real_transform, .inputs = {data}},
    {.domain = microsoft, .type = "Rfft", .shape = ShapeRule::real_transform, .inputs = {data}},
};

}  // namespace benanza::operators
