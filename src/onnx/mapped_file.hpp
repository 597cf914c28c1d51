// SPDX-License-Identifier: Apache-2.0
// MappedFile: a file in memory; only the pages that are read are loaded.
#pragma once

#include <benanza/base/detail/regular_file.hpp>
#include <benanza/error.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <system_error>
#include <utility>

namespace benanza::importer {

class MappedFile {
 public:
  /// Throws InputError for a file that is no regular file or cannot be opened.
  explicit MappedFile(const std::filesystem::path& path)
      : MappedFile(opened([&] { return detail::RegularFile(path); }), path) {}
  /// A file that the model in `model` names: beneath the model's folder, or that of the file that `model` links to. A
  /// model in a cache of Hugging Face is a link, as its data are, from snapshots/ into blobs/.
  MappedFile(const std::filesystem::path& model, const std::filesystem::path& location)
      : MappedFile(opened([&] { return beside(model, location); }), model.parent_path() / location) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (file_.size() != 0) ::munmap(address_, file_.size());
  }

  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(address_), file_.size()}; }

 private:
  MappedFile(detail::RegularFile file, const std::filesystem::path& path) : file_(std::move(file)) {
    if (file_.size() == 0) return;
    address_ = ::mmap(nullptr, file_.size(), PROT_READ, MAP_PRIVATE, file_.descriptor(), 0);
    if (address_ == MAP_FAILED)
      throw EnvironmentError(path.string() + ": cannot be mapped into memory: " + std::strerror(errno));
  }

  template <class Open>
  static detail::RegularFile opened(Open&& open) {
    try {
      return open();
    } catch (const InputError& error) {
      throw InputError(std::string("cannot be opened: ") + error.what());
    }
  }

  static detail::RegularFile beside(const std::filesystem::path& model, const std::filesystem::path& location) {
    const auto folder_of = [](const std::filesystem::path& file) {
      return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    };
    std::error_code failed;
    const std::filesystem::path folder = folder_of(model), real = std::filesystem::canonical(model, failed);
    return detail::RegularFile::beneath({folder, failed ? folder : folder_of(real)}, folder / location);
  }

  detail::RegularFile file_;
  void* address_ = nullptr;
};

}  // namespace benanza::importer
