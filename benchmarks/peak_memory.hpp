// SPDX-License-Identifier: Apache-2.0
// The memory that a benchmark uses, and a folder for its files.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace benanza::benchmarks {

/// A temporary folder, removed at the end of the program.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

/// The value of a line of /proc/self/status, in kB.
inline double status_kb(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stod(line.substr(key.size() + 1));
  return 0;
}

/// The peak memory of the process from here on, beyond what it uses now.
class PeakMemory {
 public:
  PeakMemory() : before_(status_kb("VmRSS")) { std::ofstream("/proc/self/clear_refs") << 5; }  // proc(5): resets VmHWM
  [[nodiscard]] double megabytes() const { return (status_kb("VmHWM") - before_) * 1024 / 1e6; }

 private:
  double before_;
};

}  // namespace benanza::benchmarks
