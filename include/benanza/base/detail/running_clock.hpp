// SPDX-License-Identifier: Apache-2.0
// Clocks that stand still while the process is stopped: by Ctrl-Z, by a signal, or with its virtual machine. (While a
// laptop is suspended, CLOCK_MONOTONIC, std::chrono::steady_clock, stands still by itself.)
#pragma once

#include <benanza/model/units.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace benanza::detail {

/// How long a process was stopped, by readings of a monotonic clock that it takes at least every `period` while it
/// runs.
class StoppedTime {
 public:
  static constexpr Seconds period{0.25};
  /// A longer gap between two readings is a stop: no process that runs waits that long for a processor.
  static constexpr Seconds longest_gap{2};

  void saw(Seconds now) {
    if (last_ && now - *last_ > longest_gap) total_ += now - *last_ - period;
    last_ = now;
  }
  [[nodiscard]] Seconds total() const { return total_; }

 private:
  std::optional<Seconds> last_{};
  Seconds total_{};
};

/// The steady clock without the time for which this process was stopped since the clock was made. To limit how long
/// something takes, not to time it: a stop is known to about `StoppedTime::period`.
class RunningClock {
 public:
  /// Starts a thread that wakes up every `StoppedTime::period`. It may use the processors that the calling thread may
  /// use.
  RunningClock() : ticks_([this](const std::stop_token& stop) { tick(stop); }) {}

  [[nodiscard]] static Seconds steady_now() {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
  }
  /// Can be called by any thread.
  [[nodiscard]] Seconds now() const {
    const std::lock_guard lock(mutex_);
    const Seconds now = steady_now();
    stopped_.saw(now);
    return now - stopped_.total();
  }

 private:
  void tick(const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      static_cast<void>(now());
      std::unique_lock lock(waiting_);
      static_cast<void>(
          ended_.wait_for(lock, stop, std::chrono::duration<double>(StoppedTime::period.value), [] { return false; }));
    }
  }

  mutable std::mutex mutex_{}, waiting_{};
  mutable std::condition_variable_any ended_{};
  mutable StoppedTime stopped_{};
  std::jthread ticks_;
};

}  // namespace benanza::detail
