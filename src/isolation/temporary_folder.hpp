// SPDX-License-Identifier: Apache-2.0
// TemporaryFolder: a folder of this process that is removed with the object; of a process that was killed, by the next
// one that makes such a folder.
#pragma once

#include <filesystem>

namespace benanza::isolation {

class TemporaryFolder {
 public:
  /// Throws EnvironmentError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_{};
  int lock_ = -1;  ///< of the file `owner` in the folder, held while this process lives
};

}  // namespace benanza::isolation
