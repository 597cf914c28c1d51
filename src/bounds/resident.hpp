// SPDX-License-Identifier: Apache-2.0
// What calls take together when not all of their weights can be in the caches at once
// (docs/measuring.md, "Resident weights").
#pragma once

#include <benanza/model/units.hpp>

#include <span>

namespace benanza::analysis {

/// A call whose weights are touched for the first time in a request.
struct ResidentCall {
  Seconds hot{}, cold{};  ///< with its weights in the caches, and without
  Bytes weights{};        ///< 0: nothing that could be cold
  double fresh = 1;       ///< share of the weights that no call before touched; the rest is in the caches
};

/// The least total when `caches` bytes of weights may be resident before the request. Of a call with w bytes of
/// weights, f resident ones save at most min(cold - hot, cold x f / w); bytes go where they save most, so that no
/// other choice saves more (fractional knapsack).
[[nodiscard]] Seconds resident_total(std::span<const ResidentCall> calls, Bytes caches);

}  // namespace benanza::analysis
