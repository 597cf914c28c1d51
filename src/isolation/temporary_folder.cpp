// SPDX-License-Identifier: Apache-2.0
#include "temporary_folder.hpp"

#include <benanza/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace benanza::bench {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const auto place = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const given = std::getenv("TMPDIR");
    throw EnvironmentError(std::string("no folder for temporary files") +
                           (given ? ", TMPDIR is " + std::string(given) : "") + ": " + error.message());
  }
  std::string name = (place / "benanza-worker-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw EnvironmentError("cannot create " + name + ": " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

}  // namespace benanza::bench
