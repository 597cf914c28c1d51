// SPDX-License-Identifier: Apache-2.0
// ResultMerge: joins result files into one folder. A run keeps its own file, unchanged: its date, machine, versions and
// rows are its provenance, and two runs are never mixed into one.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace benanza {

struct ResultMerge {
  struct Entry {
    std::string source{}, target{};
  };
  std::vector<Entry> added{};          ///< with the file that it became
  std::vector<Entry> known{};          ///< with the file in the folder that has the same contents
  std::vector<std::string> refused{};  ///< one line each: a file that cannot be read
};

/// Copies every results file of the sources (files or folders) that the folder does not have yet. Any number of
/// processes may do this at once. Throws InputError for a source that does not exist and EnvironmentError if a file
/// cannot be written; what was copied before stays.
ResultMerge merge_results(std::span<const std::filesystem::path> sources, const std::filesystem::path& folder);

}  // namespace benanza
