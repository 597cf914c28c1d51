// SPDX-License-Identifier: Apache-2.0
// row_fault: the one rule for which rows count. `read_run` leaves out what `db verify` would call wrong.
#pragma once

#include <benanza/results/results.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::results {

/// What is wrong with a row by itself; empty if nothing is.
[[nodiscard]] std::string row_fault(const Measurement& row);

/// A row that cannot be what a session wrote, by comparison with the others of its run.
struct UnlikeOthers {
  std::size_t row = 0;  ///< index into Run::rows
  std::string fault{};
};
/// Measured rows with another number of rounds than most rows that have rounds, and the fastest row of a layer in a
/// cache state of which no row has rounds, while rows of the same layer in another state have them.
[[nodiscard]] std::vector<UnlikeOthers> unlike_others(const Run& run);

/// The version of a backend that the run names; empty if it names none.
[[nodiscard]] std::string version_in(const Run& run, const std::string& backend);
/// What is wrong with the rows of a backend without a version, which do not count.
[[nodiscard]] std::string unnamed_text(const std::string& backend);

}  // namespace benanza::results
