// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/results/measurement.hpp>

#include <iosfwd>
#include <vector>

namespace benanza::report {

/// One line a candidate, and its kernels where they are known. `floor`: the layer's, for shares of the roofline.
void write_candidates(std::ostream& out, const std::vector<Measurement>& candidates, Seconds floor);

}  // namespace benanza::report
