// SPDX-License-Identifier: Apache-2.0
// InterruptWatch: keeps Ctrl-C and other signals that end the program away from the threads that measure. Libraries'
// generated code may use the stack pointer for a workspace of its own (oneDNN's f32 products with a large K do): a
// signal delivered there would write its frame over the memory in front of the workspace.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace benanza::bench {

/// The signals that end a session cleanly: SIGINT, and SIGTERM and SIGHUP unless they are ignored (nohup).
[[nodiscard]] sigset_t interrupts();

/// While it lives, `interrupts` are blocked in the calling thread and in the threads that it starts; a thread of the
/// watch's own receives them. The first one requests a stop; a SIGINT after it ends the process (closing terminals and
/// time limits send the others more than once). Make it before the threads that measure. The thread that made it must
/// destroy it.
class InterruptWatch {
 public:
  /// Throws std::system_error if no thread can be started.
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  [[nodiscard]] bool interrupted() const { return stop_.stop_requested(); }
  /// The exit code of the process, 128 plus the signal's number as in shells: 130 for Ctrl-C. 0 if there was no signal.
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
