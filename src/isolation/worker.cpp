// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include "child_process.hpp"
#include "raised_priority.hpp"
#include "request.hpp"
#include "shared_state.hpp"
#include "surroundings.hpp"
#include "temporary_folder.hpp"
#include <benanza/base/detail/running_clock.hpp>
#include <benanza/error.hpp>
#include <benanza/isolation/interrupt.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <mutex>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace benanza::isolation {

namespace {

std::string gibibytes(Bytes bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", bytes.value / (1 << 30));
  return text;
}

/// The end of the folder's pipe at which this process is woken.
class WakePipe {
 public:
  explicit WakePipe(const std::filesystem::path& folder) {
    const std::string name = pipe_of(folder).string();
    static_cast<void>(mkfifo(name.c_str(), 0600));  // without a pipe, the parent looks every quarter of a second
    descriptor_ = open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~WakePipe() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  /// Waits until the child has something to say. Wakes up rarely otherwise, since the child may be measuring on all
  /// processors.
  void wait() const {
    constexpr int seldom_ms = 250;
    pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&entry, 1, seldom_ms) <= 0) return;
    char byte[64];
    // The pipe ends just before the child does.
    if (read(descriptor_, byte, sizeof byte) <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  int descriptor_ = -1;
};

/// Runs one child, and in the meantime does what its options ask of this process.
class Watch {
 public:
  /// `before`: the time that the session took before this child, by the clock.
  Watch(const std::filesystem::path& folder, const WorkerOptions& limits, Bytes most_memory,
        const measure::MeasureOptions& options, Seconds before, const detail::RunningClock& clock)
      : folder_(folder),
        limits_(limits),
        most_memory_(most_memory),
        options_(options),
        before_(before),
        clock_(clock),
        state_(folder, true),
        pipe_(folder) {}

  struct End {
    std::string crash{};  ///< why it did not end properly; empty if it did
    std::string row{};    ///< the row that was being tried
  };

  /// Throws what the child threw.
  [[nodiscard]] End run(std::vector<std::string> command) {
    command.push_back(folder_.string());
    ChildProcess child(command);
    const LastWords last_words([&] { keep_last(child); });
    std::string killed;
    for (bool asked_to_stop = false;; pipe_.wait()) {
      const std::scoped_lock lock(mutex_);
      if (child.ended()) break;
      pass_on();
      if (options_.stop.stop_requested() && !std::exchange(asked_to_stop, true)) child.send(SIGTERM);
      if (!killed.empty()) continue;
      killed = why_to_kill(child);
      if (!killed.empty()) child.send(SIGKILL);
    }
    pass_on();
    return {.crash = crash_of(*child.ended(), killed), .row = state_->row.get()};
  }

 private:
  /// Gives the child a moment to end as it was asked to, keeps what it has written, and leaves nothing behind.
  void keep_last(ChildProcess& child) {
    constexpr Seconds grace{2};
    mutex_.lock();  // for good: the process ends
    const Seconds end = detail::RunningClock::steady_now() + grace;
    child.send(SIGTERM);
    while (!child.ended() && detail::RunningClock::steady_now() < end) {
      pass_on();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!child.ended()) child.send(SIGKILL);
    pass_on();
    if (std::filesystem::exists(run_of(folder_))) keep();
    std::error_code none;
    std::filesystem::remove_all(folder_, none);
  }

  /// Passes on what the child has reported since the last call.
  void pass_on() {
    if (options_.progress) {
      state_->progress.show_new(progress_seen_, [&](measure::Progress progress) {
        progress.elapsed += before_;
        options_.progress(progress);
      });
    }
    if (std::string reason = state_->not_kept.get(); !reason.empty() && options_.keep_failed) {
      state_->not_kept.set({});
      options_.keep_failed(reason);
    }
    const std::uint64_t kept = state_->kept;
    if (kept == state_->taken) return;
    keep();
    state_->taken = kept;
  }

  void keep() {
    if (!options_.keep || !keeping_) return;
    try {
      Run run = read_run(run_of(folder_));
      run.file.clear();
      options_.keep(run);
    } catch (const EnvironmentError& error) {  // a full disk costs what would be kept there, not what is measured
      keeping_ = false;
      if (options_.keep_failed) options_.keep_failed(error.what());
    }
  }

  [[nodiscard]] std::string why_to_kill(const ChildProcess& child) {
    if (const std::uint64_t beats = state_->beats; beats != beats_seen_ || child.stopped()) {
      beats_seen_ = beats;
      last_sign_ = clock_.now();
    }
    if (clock_.now() - last_sign_ > limits_.silence) {
      char text[80];
      std::snprintf(text, sizeof text, "hung: no sign of life for %.3g s", limits_.silence.value);
      return text;
    }
    if (child.resident() > most_memory_) return "out of memory: the process grew beyond " + gibibytes(most_memory_);
    return {};
  }

  [[nodiscard]] std::string crash_of(const ProcessEnd& end, const std::string& killed) const {
    if (state_->finished) return {};
    if (std::string reason = state_->reason.get(); !reason.empty()) return reason;
    if (!killed.empty()) return killed;
    if (end.signal == SIGKILL) return "killed, as the system does when memory runs out";
    if (end.signal != 0) return std::string("crashed: ") + strsignal(end.signal);
    const std::string error = state_->error.get();
    if (error.empty()) return "crashed: it ended with exit code " + std::to_string(end.code);
    switch (end.code) {
      case 1: throw InputError(error);
      case 2: throw UsageError(error);
      default: throw EnvironmentError(error);
    }
  }

  const std::filesystem::path& folder_;
  const WorkerOptions& limits_;
  Bytes most_memory_;
  const measure::MeasureOptions& options_;
  Seconds before_;
  const detail::RunningClock& clock_;
  MappedState state_;
  WakePipe pipe_;
  std::mutex mutex_{};  ///< held by the thread that looks after the child
  std::uint64_t progress_seen_ = 0, beats_seen_ = 0;
  Seconds last_sign_ = clock_.now();
  bool keeping_ = true;
};

/// Fulfils the request, with as many children as that takes. `options`: the caller's.
void run_children(Request request, const std::filesystem::path& folder, const std::vector<std::string>& command,
                  const WorkerOptions& limits, const measure::MeasureOptions& options) {
  constexpr double least_share = 0.05;  // fraction of the budget, which suffices to use the results so far
  const detail::RunningClock clock;
  const Seconds begin = clock.now();
  Bytes most_memory = limits.memory.value > 0 ? limits.memory : 0.9 * available_memory();
  if (!(most_memory.value > 0)) most_memory = {std::numeric_limits<double>::infinity()};
  for (int crashes = 0;; ++crashes) {
    const Seconds before = crashes == 0 ? Seconds{} : clock.now() - begin;
    request.options.budget = std::max(options.budget - before, least_share * options.budget);
    write_request(request, folder);
    const Watch::End end = Watch(folder, limits, most_memory, options, before, clock).run(command);
    if (end.crash.empty()) return;
    if (end.row.empty() || crashes == limits.most_crashes)
      throw EnvironmentError(end.crash + ", outside any row that could be left out");
    if (limits.warn) limits.warn(end.crash + " in " + end.row + ": going on without it");
    request.options.crashing_plans[end.row] = end.crash;
    if (std::filesystem::exists(run_of(folder)))
      request.options.earlier = std::make_shared<const Run>(read_run(run_of(folder)));
  }
}

}  // namespace

Worker::Worker(std::vector<std::string> command, WorkerOptions options)
    : command_(std::move(command)), options_(std::move(options)) {
  static_cast<void>(TemporaryFolder());  // each call makes its own folder; fail early if that is not possible
}

Run Worker::measure(std::span<const measure::Wanted> wanted, std::span<const std::string> backends,
                    const measure::MeasureOptions& options, const std::string& filter) const {
  Request request{.backends = {backends.begin(), backends.end()},
                  .layers = {wanted.begin(), wanted.end()},
                  .filter = filter,
                  .options = {.threads = options.threads,
                              .caches = options.caches,
                              .ceilings = options.ceilings,
                              .earlier = options.earlier,
                              .metrics = options.metrics}};
  const TemporaryFolder folder;
  const RaisedPriority priority;
  run_children(std::move(request), folder.path(), command_, options_, options);
  Run run = read_run(run_of(folder.path()));
  run.file.clear();
  return run;
}

Surroundings Worker::surroundings(std::span<const std::string> names) const {
  const TemporaryFolder folder;
  run_children({.measures = false, .backends = {names.begin(), names.end()}}, folder.path(), command_, options_, {});
  return read_surroundings(folder.path());
}

std::string own_program() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) throw EnvironmentError("cannot read /proc/self/exe: how was this program started?");
  return program.string();
}

}  // namespace benanza::isolation
