// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include "commands.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace benanza::tool {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool with_sanitizer = true;
#elif defined(__has_feature)
constexpr bool with_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool with_sanitizer = false;
#endif

struct Limits {
  double seconds = std::numeric_limits<double>::infinity(), bytes = 0;
};

/// Memory of the process.
double resident_bytes() {
  double all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Memory that the process can still get.
double available_bytes() {
  std::ifstream lines("/proc/meminfo");
  for (std::string key; lines >> key; lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (double kibibytes = 0; key == "MemAvailable:" && lines >> kibibytes) return kibibytes * 1024;
  return std::numeric_limits<double>::infinity();
}

/// The number that an environment variable holds, if it is set. Throws UsageError.
std::optional<double> stated(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const std::string_view all(text);
  const auto [end, error] = std::from_chars(all.begin(), all.end(), number);
  if (error != std::errc() || end != all.end() || !(number >= 0))
    throw UsageError(std::string(variable) + ": '" + text + "', expected a number of at least 0");
  return number;
}

Limits limits_of(const std::filesystem::path& file, Watchdog::Task task) {
  constexpr double megabyte = 1e6, share_of_available = 0.9;
  if (task == Watchdog::Task::run) {
    const auto megabytes = stated("BENANZA_RUN_MB");
    return {.bytes = megabytes ? *megabytes * megabyte : share_of_available * available_bytes()};
  }
  // Chains of 200,000 nodes take 0.8 us and 160 bytes for each byte of their file.
  constexpr double least_seconds = 1.5, seconds_per_byte = 1e-5, least_bytes = 512e6, bytes_per_byte = 500;
  constexpr double slower = with_sanitizer ? 20 : 1;
  std::error_code error;
  const auto found = std::filesystem::file_size(file, error);
  const double size = error ? 0 : static_cast<double>(found);
  const auto seconds = stated("BENANZA_READ_SECONDS");
  const auto megabytes = stated("BENANZA_READ_MB");
  return {.seconds = seconds ? *seconds : slower * (least_seconds + seconds_per_byte * size),
          .bytes = megabytes ? *megabytes * megabyte : slower * (least_bytes + bytes_per_byte * size)};
}

/// Bytes that all watchdogs together have allowed, and those that the existing ones allow.
std::atomic<double> all_allowed{0}, now_allowed{0};

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

/// Looks at all tasks from a thread of its own, while there are any.
class Watchdog::Watch {
 public:
  [[nodiscard]] static Watch& instance() {
    static Watch watch;
    return watch;
  }
  void add(const Watchdog& task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(&task);
    if (!thread_.joinable()) start();
    if (tasks_.size() == 1) first_.notify_one();
  }
  void remove(const Watchdog& task) {
    const std::lock_guard lock(mutex_);
    std::erase(tasks_, &task);
  }

 private:
  /// Signals are for other threads, which may block some of them.
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::jthread([this](const std::stop_token& stop) { look_at_all(stop); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void look_at_all(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds between(20);
    std::unique_lock lock(mutex_);
    while (first_.wait(lock, stop, [this] { return !tasks_.empty(); }) && !stop.stop_requested()) {
      for (const Watchdog* task : tasks_) task->look();
      static_cast<void>(first_.wait_for(lock, stop, between, [] { return false; }));
    }
  }

  std::mutex mutex_{};
  std::condition_variable_any first_{};
  std::vector<const Watchdog*> tasks_{};
  std::jthread thread_{};  // stops before what it uses is destroyed
};

Watchdog::Watchdog(const std::filesystem::path& file, Task task) : file_(file), task_(task) {
  const Limits limits = limits_of(file, task);
  if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) return;
  seconds_ = limits.seconds;
  bytes_ = limits.bytes;
  // Several threads read models: what they may take counts, and what was allowed since this began.
  before_ = resident_bytes() + now_allowed.fetch_add(bytes_) - all_allowed.fetch_add(bytes_);
  begin_ = seconds_of(clock_);
  is_watched_ = true;
  Watch::instance().add(*this);
}

Watchdog::~Watchdog() {
  if (!is_watched_) return;
  Watch::instance().remove(*this);
  look();  // the task may have taken less than the time between two looks
  now_allowed -= bytes_;
}

void Watchdog::look() const {
  const auto end = [this](const std::string& what) {
    const char* const doing = task_ == Task::read ? "reading" : task_ == Task::analyze ? "analyzing" : "running";
    terminal::say(file_.string() + ": " + doing + " it takes more than " + what);
    std::_Exit(bad_input);
  };
  if (seconds_of(clock_) - begin_ > seconds_) end(fmt::format("{:.1f} s of processor time", seconds_));
  if (resident_bytes() - before_ > all_allowed) end(fmt::format("{:.0f} MB of memory", bytes_ / 1e6));
}

}  // namespace benanza::tool
