// SPDX-License-Identifier: Apache-2.0
// What the host tells of its own processors.
#include "../../src/measure/this_host.hpp"

#include "support/catch.hpp"
#include <benanza/plan/cpu_set.hpp>

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace benanza;
using namespace benanza::bench;

constexpr Seconds window{0.1};

/// Every thread of the host's pool is busy for the window.
void keep_busy(ThisHost& host) {
  const Seconds end = host.now() + window;
  host.pool().parallel(static_cast<int>(host.cpus().size()), [&](int) {
    while (host.now() < end) {
    }
  });
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
  host.occupy(Runtime::own, threads);
  host.watch();
  keep_busy(host);
  const bool disturbed = host.disturbed(window);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  CHECK(disturbed);
}

}  // namespace
