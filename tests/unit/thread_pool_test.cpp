// SPDX-License-Identifier: Apache-2.0
#include "plan/thread_pool.hpp"

#include "plan/cpu_set.hpp"
#include "plan/round_trip.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace benanza {

TEST_CASE("A parallel region calls each thread once and shares cover everything", "[bench]") {
  const int cpus[] = {0, 0, 0};
  const ThreadPool pool(cpus);
  std::atomic<int> calls{0}, items{0};
  for (int round = 0; round < 1000; ++round) {
    pool.parallel(1 + round % 3, [&](int) { ++calls; });
    pool.split(round, 3, 4, [&](std::int64_t begin, std::int64_t end) { items += static_cast<int>(end - begin); });
  }
  CHECK(calls == 334 * 1 + 333 * 2 + 333 * 3);
  CHECK(items == 999 * 1000 / 2);
  CHECK(share(10, 3, 0, 4).end == 4);  // three grains of 4, 4 and 2
  CHECK(share(10, 3, 2, 4).begin == 8);
}

TEST_CASE("A region starts again after the workers went to sleep", "[bench]") {
  const int cpus[] = {0, 0};
  const ThreadPool pool(cpus);
  std::atomic<int> calls{0};
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(50 * ThreadPool::linger);
    pool.parallel(2, [&](int) { ++calls; });
  }
  CHECK(calls == 10);
}

TEST_CASE("A cache line takes some time between two threads, none with one", "[bench]") {
  const ThreadPool pool(cpus());
  CHECK(round_trip(pool, 1).value == 0);
  if (cpus().size() > 1) CHECK(round_trip(pool, 2).value > 0);
}

TEST_CASE("There is a processor to measure on", "[bench]") {
  REQUIRE(!cpus().empty());
  CHECK(std::is_sorted(cpus().begin(), cpus().end()));
  std::thread([] { static_cast<void>(bind_this_thread(cpus().back())); }).join();
  CHECK(!cpus().empty());  // binding a thread does not change what is found
}

}  // namespace benanza
