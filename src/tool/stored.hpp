// SPDX-License-Identifier: Apache-2.0
// Stored results instead of measurements: `--results FILE`.
#pragma once

#include <benanza/original2019/results.hpp>
#include <benanza/report/report.hpp>
#include <benanza/results/results.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace benanza::tool {

/// The results files that files and folders denote, in order. A missing file remains in the list, so that reading it
/// reports the error.
[[nodiscard]] std::vector<std::filesystem::path> files_of(const std::vector<std::string>& names);

struct StoredResults {
  ResultDatabase results{};  ///< one machine and the newest version of each backend: two versions never share a total
  BoundReport report{};      ///< describes the source of the results; has no models yet
  std::vector<std::string> not_counted{};  ///< ResultDatabase::not_counted; of several machines, of_two_machines
};

/// Adds `--of` and `--accept`, for results that an option of this name gives; empty: one of several.
void add_machine_choice(CLI::App& app, MachineChoice& choice, const std::string& results = "--results");

/// From files and folders. `backends`: those that count; all if empty. Throws InputError for a file that cannot be
/// read, unless it is one of a folder, for results of no machine, and as `ResultDatabase::machine` does.
[[nodiscard]] StoredResults load_results(const std::vector<std::string>& names,
                                         const std::vector<std::string>& backends, const MachineChoice& choice = {});
/// The same for each machine, ordered by their ids. Throws InputError for a file that cannot be read, unless it is one
/// of a folder, and for results of no machine.
[[nodiscard]] std::vector<StoredResults> load_all_results(const std::vector<std::string>& names,
                                                          const std::vector<std::string>& backends);
/// From files and folders of 2019, for `--rules 2019`. Throws InputError as `original2019::read_results` does, and if
/// there are none.
[[nodiscard]] original2019::Results load_results_2019(const std::vector<std::string>& names, const std::string& device);

/// One line for each file that was not read, and for each file from which rows were left out because they cannot be
/// true.
void warn_of_faults(const ResultDatabase& results);
/// The same, with a line for each run that may be of two machines and counts for neither, and one if runs disagree: the
/// fastest row of a layer counts, so that one of the two is not used.
void warn_of_stored(const StoredResults& stored);

}  // namespace benanza::tool
