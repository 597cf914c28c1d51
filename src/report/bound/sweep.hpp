// SPDX-License-Identifier: Apache-2.0
// Sweeps in the table and the CSV of a report, where they replace the individual points.
#pragma once

#include <benanza/bounds/sweep.hpp>

#include <iosfwd>
#include <vector>

namespace benanza::report {

void write_sweep_table(std::ostream& out, const std::vector<Sweep>& sweeps);
void write_sweep_csv(std::ostream& out, const std::vector<Sweep>& sweeps);

}  // namespace benanza::report
