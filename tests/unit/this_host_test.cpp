// SPDX-License-Identifier: Apache-2.0
// What the host reports about its own processors.
#include "sampling/this_host.hpp"

#include "plan/cpu_set.hpp"
#include "support/catch.hpp"

#include <csignal>
#include <ctime>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace benanza;
using namespace benanza::sampling;

constexpr Seconds window{0.1}, longest{20};
/// The other process uses this share of one processor, which is more than the share that disturbs a window.
constexpr double taken_share = 0.2;

/// Keeps every thread of the host's pool busy for the window.
void keep_busy(ThisHost& host) {
  const Seconds end = host.now() + window;
  host.pool().parallel(static_cast<int>(host.cpus().size()), [&](int) {
    while (host.now() < end) {
    }
  });
}

/// How long a process has run on a processor.
Seconds time_on(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return {static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

TEST_CASE("A pool's thread that another process takes the processor from disturbs the window", "[bench][this_host]") {
  ThisHost host(0);
  const int threads = static_cast<int>(host.cpus().size());
  if (threads < 2 || !std::filesystem::exists("/proc/self/schedstat")) return;  // the caller has its own to itself
  const pid_t other = fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    static_cast<void>(bind_this_thread(host.cpus().back()));
    while (true) {
    }
  }
  clockid_t its_clock{};
  const bool has_clock = clock_getcpuclockid(other, &its_clock) == 0;
  host.occupy(Runtime::own, threads);
  host.watch();
  const Seconds start = host.now(), before = time_on(its_clock);
  Seconds took{};
  do {  // the other process may begin late
    keep_busy(host);
    took = host.now() - start;
  } while (time_on(its_clock) - before < taken_share * took && took < longest);
  const bool disturbed = host.disturbed(took);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  CHECK(has_clock);
  CHECK(disturbed);
}

}  // namespace
