// SPDX-License-Identifier: Apache-2.0
// Watchdog: ends the program if a model takes too much time or memory.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <limits>

namespace benanza::tool {

/// While it exists, it watches the processor time of the thread that made it, and the memory of the process. If one of
/// them exceeds its limit, the program prints one line that names the file and exits with code 1. docs/program.md
/// ("Limits") has the limits.
class Watchdog {
 public:
  enum class Task : std::uint8_t {
    read,     ///< The ONNX library's shape rules might never end. Limits grow with the size of the file.
    analyze,  ///< Sizes of tensors, which a small file may state as it likes, decide what it takes. The same limits.
    run,      ///< Time has no limit, memory that of the machine.
  };
  /// Throws UsageError if an environment variable that sets a limit is not a number of at least 0.
  Watchdog(const std::filesystem::path& file, Task task);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  class Watch;

  /// Ends the program if the task has taken too much.
  void look() const;

  std::filesystem::path file_;
  Task task_;
  clockid_t clock_ = 0;                                                   ///< processor time of the thread
  double seconds_ = std::numeric_limits<double>::infinity(), bytes_ = 0;  ///< that the task may take
  double begin_ = 0, before_ = 0;                                         ///< seconds and bytes when it began
  bool is_watched_ = false;
};

}  // namespace benanza::tool
