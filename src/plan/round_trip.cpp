// SPDX-License-Identifier: Apache-2.0
#include "round_trip.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace benanza {

namespace {

constexpr int trips = 32, parts = 3, most_others = 7;
/// After this many looks at a line, a thread is considered missing.
constexpr int most_looks = 1'000'000'000;

struct Exchange {
  /// The first thread makes it odd, the other thread makes it even.
  alignas(64) std::atomic<int> turn{0};
  alignas(64) std::atomic<int> present{0};
  std::atomic<bool> missing{false};
  int other = 0;
  double seconds = 0;
};

bool wait_for(const std::atomic<int>& value, int wanted) {
  for (int look = 0; look < most_looks; ++look)
    if (value.load(std::memory_order_acquire) == wanted) return true;
  return false;
}

void answer_each_other(Exchange& exchange, int thread) {
  if (thread != 0 && thread != exchange.other) return;
  ++exchange.present;
  if (!wait_for(exchange.present, 2)) exchange.missing = true;
  int turn = 0;
  double least = 1;
  for (int part = 0; part < parts && !exchange.missing; ++part) {
    const auto start = std::chrono::steady_clock::now();
    for (int trip = 0; trip < trips && !exchange.missing; ++trip, turn += 2) {
      if (thread == 0) exchange.turn.store(turn + 1, std::memory_order_release);
      if (!wait_for(exchange.turn, turn + (thread == 0 ? 2 : 1))) exchange.missing = true;
      if (thread != 0) exchange.turn.store(turn + 2, std::memory_order_release);
    }
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / trips);
  }
  if (thread == 0) exchange.seconds = least;
}

}  // namespace

Seconds round_trip(const ThreadPool& pool, int threads) {
  double longest = 0;
  const int others = std::min(threads - 1, most_others);
  for (int i = 1; i <= others; ++i) {
    Exchange exchange;
    exchange.other = (threads - 1) * i / others;  // includes the last one
    pool.parallel(threads, [&](int thread) { answer_each_other(exchange, thread); });
    if (exchange.missing) return {};
    longest = std::max(longest, exchange.seconds);
  }
  return {longest};
}

}  // namespace benanza
