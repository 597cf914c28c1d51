// SPDX-License-Identifier: Apache-2.0
// run_tuning_session: selection and rounds on a given host; the part of `measure` between the ceilings and the file.
#pragma once

#include "tuner.hpp"

#include <vector>

namespace benanza::measure {

/// Rows of the layers in the order of `wanted`, then of the backends in the given order. `threads`: the most.
/// `usual_memory` receives rows with the usual times of readings of the memory, if there were enough of them.
[[nodiscard]] std::vector<Measurement> run_tuning_session(sampling::Host& host, std::span<const Wanted> wanted,
                                                          Backends backends, const MeasureOptions& options, int threads,
                                                          std::vector<CeilingRow>* usual_memory = nullptr);

}  // namespace benanza::measure
