// SPDX-License-Identifier: Apache-2.0
// InterruptWatch: keeps Ctrl-C and other signals that end the program away from the threads that measure. Libraries'
// generated code may use the stack pointer for a workspace of its own (oneDNN's f32 products with a large K do): a
// signal delivered there would write its frame over whatever lies in front of the workspace.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace benanza::bench {

/// The signals that end a session cleanly: SIGINT, and SIGTERM and SIGHUP unless they are ignored (nohup).
[[nodiscard]] sigset_t interrupts();

/// While it lives, `interrupts` are blocked in the calling thread and in those that it starts, and a thread of the
/// watch's own takes them. The first one requests a stop; a SIGINT after it ends the process
/// (closing terminals and time limits send the others more than once). To be made before the threads that measure;
/// destroyed by the thread that made it.
class InterruptWatch {
 public:
  /// Throws std::system_error when no thread can be started.
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] bool interrupted() const { return stop_.stop_requested(); }
  /// What the process ends with, 128 and the signal's number as shells have it: 130 for Ctrl-C. 0 if there was none.
  [[nodiscard]] int exit_code() const { return interrupted() ? 128 + signal_ : 0; }

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

  std::stop_source stop_{};
  std::atomic<bool> ending_{false};
  std::atomic<int> signal_{0};
  Block block_{};
  std::thread thread_;
};

}  // namespace benanza::bench
