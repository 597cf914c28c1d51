// SPDX-License-Identifier: Apache-2.0
// Selects candidates of a layer by what the names of their plans say.
#pragma once

#include <benanza/base/detail/algorithm_text.hpp>
#include <benanza/bounds/analysis.hpp>
#include <benanza/results/expected_time.hpp>

namespace benanza::gap {

using detail::value_of;
using detail::without_keys;

/// The fastest candidate that may be chosen and for which `holds` is true.
template <class Holds>
[[nodiscard]] const Measurement* fastest(const LayerRow& row, Holds holds) {
  const Measurement* best = nullptr;
  for (const auto& candidate : row.candidates)
    if (candidate.measured() && holds(candidate) && (!best || expected_time(candidate) < expected_time(*best)))
      best = &candidate;
  return best;
}

}  // namespace benanza::gap
