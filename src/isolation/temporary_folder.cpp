// SPDX-License-Identifier: Apache-2.0
#include "temporary_folder.hpp"

#include <benanza/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace benanza::isolation {

namespace {

constexpr std::string_view prefix = "benanza-worker-";

/// The descriptor of the folder's lock if no living process holds it; -1 otherwise.
int lock_of(const std::filesystem::path& folder, int flags) {
  const int lock = ::open((folder / "owner").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  ::close(lock);
  return -1;
}

/// Removes the folders of this user's processes that were killed.
void remove_abandoned(const std::filesystem::path& place) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(place, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    struct stat facts {};
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    if (::lstat(entry->path().c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != ::geteuid()) continue;
    const int lock = lock_of(entry->path(), 0);
    if (lock < 0) continue;
    std::error_code none;
    std::filesystem::remove_all(entry->path(), none);
    ::close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const auto place = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    throw EnvironmentError(std::string("no folder for temporary files") +
                           (given ? ", TMPDIR is " + std::string(given) : "") + ": " + error.message());
  }
  remove_abandoned(place);
  std::string name = (place / (std::string(prefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw EnvironmentError("cannot create " + name + ": " + std::strerror(errno));
  path_ = name;
  lock_ = lock_of(path_, O_CREAT);  // without a lock, nobody removes the folder of a process that was killed
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace benanza::isolation
