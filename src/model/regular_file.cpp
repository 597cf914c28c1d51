// SPDX-License-Identifier: Apache-2.0
#include <benanza/base/detail/regular_file.hpp>
#include <benanza/error.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace benanza::detail {

RegularFile::RegularFile(const std::filesystem::path& file)
    : RegularFile(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}

RegularFile RegularFile::beneath(const std::vector<std::filesystem::path>& folders, const std::filesystem::path& file) {
  const RegularFile place(::open(file.c_str(), O_PATH | O_CLOEXEC));  // finds the file without opening it
  const std::string handle = "/proc/self/fd/" + std::to_string(place.descriptor_);
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::read_symlink(handle, failed);
  const auto holds = [&](const std::filesystem::path& folder) {
    std::error_code unknown;
    const std::filesystem::path top = std::filesystem::canonical(folder, unknown);
    return !unknown && std::mismatch(top.begin(), top.end(), real.begin(), real.end()).first == top.end();
  };
  if (failed || std::none_of(folders.begin(), folders.end(), holds)) throw InputError("it is outside of its folder");
  return RegularFile(std::filesystem::path(handle));
}

RegularFile::RegularFile(int descriptor) : descriptor_(descriptor) {
  struct stat facts {};
  const int error = descriptor < 0 || ::fstat(descriptor, &facts) != 0 ? errno : 0;
  const bool regular = error == 0 && S_ISREG(facts.st_mode);
  size_ = regular ? static_cast<std::size_t>(facts.st_size) : 0;
  if (regular) return;
  if (descriptor >= 0) ::close(std::exchange(descriptor_, -1));
  if (error != 0 || S_ISDIR(facts.st_mode))
    throw InputError(std::generic_category().message(error != 0 ? error : EISDIR));
  throw InputError("not a regular file");
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace benanza::detail
