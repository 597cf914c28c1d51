// SPDX-License-Identifier: Apache-2.0
#include "resident.hpp"

#include <algorithm>
#include <vector>

namespace benanza::analysis {

namespace {

/// What bytes of one call can still save, and how fast.
struct Saving {
  Seconds most{};
  double per_byte = 0;
};

}  // namespace

Seconds resident_total(std::span<const ResidentCall> calls, Bytes caches) {
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

}  // namespace benanza::analysis
