// SPDX-License-Identifier: Apache-2.0
#include "team_sentinel.hpp"

#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <limits>

namespace benanza::execution {

Seconds TeamSentinel::take() {
  if (alone_) return {};
  const Seconds reading = read_();
  trips_.add(reading);
  alone_ = reading.value == 0;
  return reading;
}

bool TeamSentinel::near() { return !trips_.is_distant(take()); }

bool TeamSentinel::quiet(const std::pair<Seconds, Seconds>& turn) const {
  return !trips_.is_distant(turn.first) || !trips_.is_distant(turn.second);
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

Seconds TeamSentinel::least() const {
  if (turns_.empty()) return {};
  Seconds result = turns_.front().first;
  for (const auto& [before, after] : turns_) result = std::min({result, before, after});
  return result;
}

Seconds p10_of(std::vector<double> times, const std::vector<bool>& counted) {
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!counted[i]) times[i] = std::numeric_limits<double>::quiet_NaN();
  return {detail::quantile(times, 0.1)};
}

}  // namespace benanza::execution
