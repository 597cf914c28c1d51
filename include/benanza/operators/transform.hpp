// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and windows of signals.
#pragma once

#include <benanza/operators/facts.hpp>

namespace benanza::operators {

inline constexpr OperatorFacts transform_operators[] = {
    {.type = "BlackmanWindow", .inputs = {setting, data}},
    {.type = "DFT", .inputs = {data, setting, setting, data}, .ranks = {{{0, 2, 0}}}, .demand = Demand::transform},
    {.type = "HammingWindow", .inputs = {setting, data}},
    {.type = "HannWindow", .inputs = {setting, data}},
    {.type = "MelWeightMatrix", .inputs = {data}},
    {.type = "STFT",
     .inputs = {data, divisor, data, setting, data},
     .ranks = {{{0, 2, 0}, {2, 1, 2}}},
     .demand = Demand::frames},
    {.domain = microsoft, .type = "Irfft", .inputs = {data}},
    {.domain = microsoft, .type = "Rfft", .inputs = {data}},
};

}  // namespace benanza::operators
