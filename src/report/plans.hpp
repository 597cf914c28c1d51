// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/measurement.hpp>
#include <benanza/report.hpp>

#include <iosfwd>
#include <vector>

namespace benanza::report {

/// One line a rival. `floor`: the layer's, for shares of the roofline.
void write_rivals(std::ostream& out, const std::vector<Measurement>& rivals, Seconds floor);

}  // namespace benanza::report
