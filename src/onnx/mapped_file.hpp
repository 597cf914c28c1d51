// SPDX-License-Identifier: Apache-2.0
// MappedFile: a file in memory; only the pages that are read are loaded.
#pragma once

#include <benanza/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace benanza::importer {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw InputError(std::string("cannot be opened: ") + std::strerror(errno));
    struct stat facts {};
    const bool known = ::fstat(descriptor_, &facts) == 0;
    if (!known || !S_ISREG(facts.st_mode)) {
      ::close(descriptor_);
      throw InputError("is not a regular file");
    }
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ == 0) return;
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (address_ != MAP_FAILED) return;
    const int error = errno;
    ::close(descriptor_);
    throw EnvironmentError(path.string() + ": cannot be mapped into memory: " + std::strerror(error));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (size_ != 0) ::munmap(address_, size_);
    ::close(descriptor_);
  }

  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(address_), size_}; }

 private:
  int descriptor_ = -1;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace benanza::importer
