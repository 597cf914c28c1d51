// SPDX-License-Identifier: Apache-2.0
// Profiles from files of the test data, or from text.
#pragma once

#include "support/catch.hpp"
#include <benanza/error.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace profile_support {

using namespace benanza;
namespace fs = std::filesystem;

/// A folder for one test, removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("benanza-profile-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path), fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

inline fs::path data(const std::string& name) { return fs::path(BENANZA_TEST_DATA) / "profile" / name; }

inline std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline EngineProfile read(const fs::path& file, const ProfileOptions& options = {}) {
  const fs::path files[] = {file};
  return read_profile(files, options);
}

/// Reads a text as a file, which Folder keeps for as long as the file is read.
inline EngineProfile read_text(const std::string& text, const ProfileOptions& options = {}) {
  const Folder folder;
  return read(folder.write("profile", text), options);
}

/// The what() of the InputError that a text gives, from the name of the file on; empty if there is no error.
inline std::string error_of(const std::string& text, const ProfileOptions& options = {}) {
  try {
    static_cast<void>(read_text(text, options));
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("/profile") + 1);
  }
  return "";
}

inline const ProfileRecord& record(const EngineProfile& profile, const std::string& name) {
  const auto found = std::find_if(profile.records.begin(), profile.records.end(),
                                  [&name](const ProfileRecord& each) { return each.name == name; });
  INFO(name);
  REQUIRE(found != profile.records.end());
  return *found;
}

inline bool warned(const EngineProfile& profile, const std::string& words) {
  return std::any_of(profile.warnings.begin(), profile.warnings.end(),
                     [&words](const std::string& text) { return text.find(words) != std::string::npos; });
}

/// In milliseconds.
inline double sum_of_pass(const EngineProfile& profile, std::size_t pass) {
  double sum = 0;
  for (const auto& each : profile.records)
    if (!each.parent) sum += each.times.at(pass).value * 1e3;
  return sum;
}

/// Rounded to nanoseconds, the finest resolution of any format.
inline std::vector<double> microseconds(const std::vector<Seconds>& times) {
  std::vector<double> result;
  for (const Seconds time : times) result.push_back(std::round(time.value * 1e9) / 1e3);
  return result;
}

}  // namespace profile_support
