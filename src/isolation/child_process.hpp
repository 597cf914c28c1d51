// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a program started by this process.
#pragma once

#include <benanza/model/units.hpp>

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace benanza::isolation {

/// How a process ended.
struct ProcessEnd {
  int code = 0;    ///< if it ended by itself
  int signal = 0;  ///< the signal that ended it; 0 if none did
};

class ChildProcess {
 public:
  /// The program begins with `interrupts` blocked, so that none is lost before it waits for them, and without the
  /// variables that change kernels (`is_kernel_setting`). Throws
  /// EnvironmentError if it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  /// Kills it if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Empty while it runs. Throws EnvironmentError if the system does not report it.
  [[nodiscard]] std::optional<ProcessEnd> ended();
  void send(int signal);
  [[nodiscard]] Bytes resident() const;
  /// Whether a signal or a debugger has stopped it.
  [[nodiscard]] bool stopped() const;

 private:
  pid_t process_ = 0;
  std::optional<ProcessEnd> end_{};
};

/// What the system could give to processes now; 0 if not known.
[[nodiscard]] Bytes available_memory();

}  // namespace benanza::isolation
