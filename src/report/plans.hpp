// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/results/measurement.hpp>

#include <iosfwd>
#include <vector>

namespace benanza::report {

/// Writes one line per candidate, and its kernels if they are known. `floor`: the layer's floor, for shares of the
/// roofline.
void write_candidates(std::ostream& out, const std::vector<Measurement>& candidates, Seconds floor);

}  // namespace benanza::report
