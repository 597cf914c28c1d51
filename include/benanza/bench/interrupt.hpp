// SPDX-License-Identifier: Apache-2.0
// InterruptWatch: Ctrl-C during a measurement, kept away from the threads that measure. Libraries' generated code may
// use the stack pointer for a workspace of its own (oneDNN's f32 products with a large K do): a signal delivered there
// would write its frame over whatever lies in front of the workspace.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace benanza::bench {

/// While it lives, SIGINT is blocked in the calling thread and in those that it starts, and a thread of the watch's own
/// takes it. The first one is noted, for MeasureOptions::cancelled; the second ends the process. To be made before the
/// threads that measure; destroyed by the thread that made it.
class InterruptWatch {
 public:
  /// Throws std::system_error when no thread can be started.
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] const std::atomic<bool>& interrupted() const { return interrupted_; }

 private:
  class Block {
   public:
    Block();
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    sigset_t before_;
  };
  void watch();

  std::atomic<bool> interrupted_{false}, ending_{false};
  Block block_{};
  std::thread thread_;
};

}  // namespace benanza::bench
