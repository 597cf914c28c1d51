// SPDX-License-Identifier: Apache-2.0
#include "watchdog.hpp"

#include "commands.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <optional>
#include <pthread.h>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

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

Watchdog::Watchdog(const std::filesystem::path& file, Task task) {
  const Limits limits = limits_of(file, task);
  clockid_t clock = 0;
  if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
  bytes_ = limits.bytes;
  // Several threads read models: what they may take counts, and what was allowed since this began.
  const double before = resident_bytes() + now_allowed.fetch_add(bytes_) - all_allowed.fetch_add(bytes_);
  const double begin = seconds_of(clock);
  const auto end = [file, task](const std::string& what) {
    const char* const doing = task == Task::read ? "reading" : task == Task::analyze ? "analyzing" : "running";
    terminal::say(file.string() + ": " + doing + " it takes more than " + what);
    std::_Exit(bad_input);
  };
  thread_ = std::jthread([=, this](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds between(20);
    std::unique_lock lock(mutex_);
    for (bool last = false;;) {  // also after the task, which may have taken less than the time between two looks
      if (seconds_of(clock) - begin > limits.seconds) end(fmt::format("{:.1f} s of processor time", limits.seconds));
      if (resident_bytes() - before > all_allowed) end(fmt::format("{:.0f} MB of memory", limits.bytes / 1e6));
      if (last) return;
      last = stopped_.wait_for(lock, stop, between, [&] { return stop.stop_requested(); });
    }
  });
}

Watchdog::~Watchdog() { now_allowed -= bytes_; }

}  // namespace benanza::tool
