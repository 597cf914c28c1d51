// SPDX-License-Identifier: Apache-2.0
// MemoryFile: bytes as a file that has a path but no place on a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace benanza::testing {

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    for (std::size_t done = 0; done < size;) {
      const ssize_t count = ::write(descriptor_, data + done, size - done);
      if (count <= 0) std::abort();
      done += static_cast<std::size_t>(count);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace benanza::testing
