// SPDX-License-Identifier: Apache-2.0
#include "team_sentinel.hpp"

#include <benanza/detail/quantile.hpp>
#include <benanza/plan/openmp_team.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

namespace benanza::execution {

namespace {

constexpr int trips = 32, parts = 3;
/// Looks at a line after which a thread is taken to be missing.
constexpr int most_looks = 1'000'000'000;

struct Exchange {
  /// The first thread makes it odd, the other one even.
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

void answer_each_other(const void* context, int thread) {
  auto& exchange = *static_cast<Exchange*>(const_cast<void*>(context));
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

Seconds round_trip(int threads) {
  const OpenmpTeam team;
  double longest = 0;
  if (!team.exists()) return {};
  for (int other = 1; other < threads; ++other) {
    Exchange exchange;
    exchange.other = other;
    team.run(threads, answer_each_other, &exchange);
    if (exchange.missing) return {};
    longest = std::max(longest, exchange.seconds);
  }
  return {longest};
}

Seconds TeamSentinel::take() {
  if (!readings_.empty() && readings_.front() == 0) return {};  // there are no two threads
  const Seconds reading = read_();
  readings_.insert(std::upper_bound(readings_.begin(), readings_.end(), reading.value), reading.value);
  return reading;
}

bool TeamSentinel::quiet(const std::pair<Seconds, Seconds>& turn) const {
  const double limit = slow * detail::quantile_of_sorted(readings_, 0.25);
  return turn.first.value <= limit || turn.second.value <= limit;
}

std::size_t TeamSentinel::quiet_turns() const {
  return static_cast<std::size_t>(
      std::count_if(turns_.begin(), turns_.end(), [&](const auto& turn) { return quiet(turn); }));
}

std::vector<bool> TeamSentinel::counted() const {
  const bool all = quiet_turns() == 0;
  std::vector<bool> result;
  for (const auto& turn : turns_) result.push_back(all || quiet(turn));
  return result;
}

Seconds p10_of(std::vector<double> times, const std::vector<bool>& counted) {
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!counted[i]) times[i] = std::numeric_limits<double>::quiet_NaN();
  return {detail::quantile(times, 0.1)};
}

}  // namespace benanza::execution
