// SPDX-License-Identifier: Apache-2.0
// The total time of calls if not all of their weights can be in the caches at once (docs/measuring.md, "Resident
// weights").
#pragma once

#include <benanza/model/units.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace benanza::detail {

/// A call whose weights are touched for the first time in a request.
struct ResidentCall {
  Seconds hot{}, cold{};  ///< with its weights in the caches, and without
  Bytes weights{};        ///< 0: no weights that could be cold
  double fresh = 1;       ///< share of the weights that no earlier call touched; the rest is in the caches
};

/// The least total if `caches` bytes of weights may be resident before the request. For a call with w bytes of weights,
/// f resident bytes save at most min(cold - hot, cold x f / w). Bytes are assigned where they save most, so that no
/// other choice saves more (fractional knapsack).
[[nodiscard]] Seconds resident_total(std::span<const ResidentCall> calls, Bytes caches);

/// What bytes of one call can still save, and how much each of them saves.
struct Saving {
  Seconds most{};
  double per_byte = 0;
};

inline Seconds resident_total(std::span<const ResidentCall> calls, Bytes caches) {
  Seconds total{};
  std::vector<Saving> savings;
  for (const auto& call : calls) {
    total += call.hot;
    if (call.weights.value <= 0 || call.cold <= call.hot) continue;
    const Seconds by_earlier_calls = call.cold * (1 - call.fresh);
    const Seconds lost = call.cold - call.hot - std::min(call.cold - call.hot, by_earlier_calls);
    total += lost;
    savings.push_back({.most = lost, .per_byte = call.cold.value / call.weights.value});
  }
  std::sort(savings.begin(), savings.end(), [](const Saving& a, const Saving& b) { return a.per_byte > b.per_byte; });
  for (double left = caches.value; const auto& saving : savings) {
    const double bytes = std::min(left, saving.most.value / saving.per_byte);
    total = total - Seconds{bytes * saving.per_byte};
    left -= bytes;
  }
  return total;
}

}  // namespace benanza::detail
