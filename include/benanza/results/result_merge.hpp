// SPDX-License-Identifier: Apache-2.0
// ResultMerge: joins result files into one folder. A run stays a file of its own, as it was written: its date, machine,
// versions and rows are its provenance, and no two runs are ever mixed into one.
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
  std::vector<Entry> added{};          ///< and the file that it became
  std::vector<Entry> known{};          ///< and the file of the folder that has the same contents
  std::vector<std::string> refused{};  ///< one line each: a file that cannot be read
};

/// Copies every results file of the sources (files or folders) that the folder does not hold yet. Any number of
/// processes may do so at once. Throws InputError for a source that does not exist and EnvironmentError when a file
/// cannot be written; what was copied until then stays.
ResultMerge merge_results(std::span<const std::filesystem::path> sources, const std::filesystem::path& folder);

}  // namespace benanza
