// SPDX-License-Identifier: Apache-2.0
// ResultCheck: whether a session can have written these results, and where two runs disagree.
#pragma once

#include <benanza/results/comparison.hpp>
#include <benanza/results/results.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace benanza {

/// Two rows of one plan, on one machine and with one version of the library, whose times differ by more than their
/// noise, or of which one was timed and the other was tried and refused.
struct Conflict {
  std::string row{};      ///< `Measurement::name()`
  std::string backend{};  ///< with its version
  std::string first_file{}, second_file{};
  Measurement first{}, second{};
  Comparison comparison{};  ///< from first to second
};

/// All conflicts of a database, in order of row, machine and version; of more than two rows, the fastest and the
/// slowest.
[[nodiscard]] std::vector<Conflict> conflicts(const ResultDatabase& results, double tolerance = default_tolerance);

/// Something that is wrong with a file.
struct Finding {
  std::string file{};
  std::string what{};
};

/// Faults that no session writes: a duplicate row, a row of a library whose version the run does not name, quantiles
/// out of order, unequal numbers of rounds, a valid row without samples, what `read_run` left out because a value
/// cannot be true, a ceiling that is not a positive number.
[[nodiscard]] std::vector<Finding> check(const Run& run);

/// Rows that beat the ceilings of their machine, over all its runs, by too much to be true, or by more than they may
/// raise them (`CeilingCheck`).
[[nodiscard]] std::vector<Finding> damaged_rows(const ResultDatabase& results);

/// One line for each file from which rows were left out because they cannot be true, and one for all rows that
/// contradict a ceiling.
[[nodiscard]] std::vector<std::string> left_out(const ResultDatabase& results);

/// Temporary files in a folder, from writers that were killed or are still running.
[[nodiscard]] std::vector<Finding> leftovers(const std::filesystem::path& folder);

/// How many files of a folder are neither results, by their names, nor temporary ones.
[[nodiscard]] std::size_t other_files(const std::filesystem::path& folder);

}  // namespace benanza
