// SPDX-License-Identifier: Apache-2.0
// RegularFile: a file of input, open for reading. Only a regular file is opened, and opening never waits: a pipe
// without a writer would block, and a device may act on being opened.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

namespace benanza::detail {

class RegularFile {
 public:
  /// A file that the user names. Throws InputError with the reason alone: the caller names the file.
  explicit RegularFile(const std::filesystem::path& file);
  /// A file that another file names. It is opened only if it lies in one of the folders or beneath it after all links
  /// are followed. Throws InputError like the constructor.
  [[nodiscard]] static RegularFile beneath(const std::vector<std::filesystem::path>& folders,
                                           const std::filesystem::path& file);

  RegularFile(RegularFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}
  RegularFile& operator=(RegularFile&&) = delete;
  ~RegularFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// In bytes, when it was opened.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The descriptor, which the caller now has to close.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

 private:
  explicit RegularFile(int descriptor);

  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace benanza::detail
