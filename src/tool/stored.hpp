// SPDX-License-Identifier: Apache-2.0
// Stored results instead of measured ones: `--results FILE`.
#pragma once

#include <benanza/report/report.hpp>
#include <benanza/results/results.hpp>
#include <benanza/results/results2019.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace benanza::tool {

/// The results files that are meant by files and folders, in order; one that is not there stays, so that reading it
/// says what is wrong.
[[nodiscard]] std::vector<std::filesystem::path> files_of(const std::vector<std::string>& names);

struct StoredResults {
  ResultDatabase results{};  ///< one machine and the newest version of each backend: two versions never share a total
  BoundReport report{};      ///< says where they come from; has no models yet
};

/// Files and folders. `backends`: those to count, all for none. Throws InputError for a file that cannot be read,
/// unless it is one of a folder, and for results of several machines or of none.
[[nodiscard]] StoredResults load_results(const std::vector<std::string>& names,
                                         const std::vector<std::string>& backends);
/// The same of each machine, in order of their ids. Throws InputError for a file that cannot be read, unless it is one
/// of a folder, and for results of no machine.
[[nodiscard]] std::vector<StoredResults> load_all_results(const std::vector<std::string>& names,
                                                          const std::vector<std::string>& backends);
/// Files and folders of 2019, for `--rules 2019`. Throws InputError as `read_results_2019` does, and where there are
/// none.
[[nodiscard]] Results2019 load_results_2019(const std::vector<std::string>& names, const std::string& device);

/// A line for each file that was not read, and for each of which rows were left out since they cannot be true.
void warn_of_faults(const ResultDatabase& results);
/// The same, and one that says where runs disagree: the fastest row of a layer counts, so that one of two is not
/// believed.
void warn_of_conflicts(const ResultDatabase& results);

}  // namespace benanza::tool
