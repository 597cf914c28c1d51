// SPDX-License-Identifier: Apache-2.0
// InterruptWatch: keeps Ctrl-C and other signals that end the program away from the threads that measure. Libraries'
// generated code may use the stack pointer for a workspace of its own (oneDNN's f32 products with a large K do): a
// signal delivered there would write its frame over the memory in front of the workspace.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>

namespace benanza::isolation {

/// The signals that end a session cleanly: SIGINT, and SIGTERM and SIGHUP unless they are ignored (nohup).
[[nodiscard]] sigset_t interrupts();

/// What remains to be done if a second interrupt ends the process while this lives: in a thread of its own, while the
/// others go on.
class LastWords {
 public:
  explicit LastWords(std::function<void()> words);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  std::function<void()> words_;
};

/// What a second SIGINT does.
enum class SecondInterrupt : std::uint8_t {
  ends_process,  ///< after the LastWords that live
  is_ignored     ///< for a child, which its parent ends
};

/// While it lives, `interrupts` are blocked in the calling thread and in the threads that it starts; a thread of the
/// watch's own receives them. The first one requests a stop; a SIGINT after it does what `second` says (closing
/// terminals and time limits send the others more than once). Make it before the threads that measure. The thread that
/// made it must destroy it.
class InterruptWatch {
 public:
  /// Throws std::system_error if no thread can be started.
  explicit InterruptWatch(SecondInterrupt second = SecondInterrupt::ends_process);
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
  SecondInterrupt second_;
  std::atomic<bool> ending_{false};
  std::atomic<int> signal_{0};
  Block block_{};
  std::thread thread_;
};

}  // namespace benanza::isolation
