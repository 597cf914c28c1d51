// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/results/measurement.hpp>

#include <iosfwd>
#include <vector>

namespace benanza::report {

/// Writes one line per candidate, and its kernels if they are known. The layer's floors, of direct
/// algorithms and of any, are for shares of the roofline.
void write_candidates(std::ostream& out, const std::vector<Measurement>& candidates, Seconds direct_floor,
                      Seconds least_floor);

}  // namespace benanza::report
