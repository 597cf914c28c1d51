// SPDX-License-Identifier: Apache-2.0
// RunFile: the file of a session's run in the database. It contains the results so far, so that a killed session leaves
// them.
#pragma once

#include <benanza/results/results.hpp>

#include <filesystem>
#include <set>
#include <string>

namespace benanza {

class RunFile {
 public:
  /// Throws EnvironmentError if the folder cannot be written to.
  RunFile(std::string name, std::filesystem::path folder);

  /// Writes the rows of the `selected` layers, without rounds: the database has better rows of other layers, and the
  /// rounds of a whole session are still to come.
  void keep(Run so_far, const std::set<std::string>& selected);
  /// Writes the whole run in place of what was kept.
  void write(Run run);

  /// Empty before anything is written.
  [[nodiscard]] const std::filesystem::path& path() const { return file_; }

 private:
  std::string name_;
  std::filesystem::path folder_, file_{};
};

}  // namespace benanza
