// SPDX-License-Identifier: Apache-2.0
// The candidates of a layer, by what their plans' names say.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/results/expected_time.hpp>

#include <string_view>

namespace benanza::gap {

/// `brgconv:avx2` of `brgconv:avx2,src=...,threads=2`.
[[nodiscard]] inline std::string_view without_keys(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.find(','));
}

/// The value of a key of an algorithm: `aBcd8b` of `jit,src=aBcd8b`; empty without the key.
[[nodiscard]] inline std::string_view value_of(std::string_view algorithm, std::string_view key) {
  for (std::size_t at = algorithm.find(','); at != std::string_view::npos; at = algorithm.find(',', at + 1)) {
    const std::string_view rest = algorithm.substr(at + 1);
    if (rest.starts_with(key) && rest.size() > key.size() && rest[key.size()] == '=') {
      const std::string_view value = rest.substr(key.size() + 1);
      return value.substr(0, value.find(','));
    }
  }
  return {};
}

/// The fastest candidate that may be chosen and for which `holds`.
template <class Holds>
[[nodiscard]] const Measurement* fastest(const LayerRow& row, Holds holds) {
  const Measurement* best = nullptr;
  for (const auto& candidate : row.candidates)
    if (candidate.measured() && holds(candidate) && (!best || expected_time(candidate) < expected_time(*best)))
      best = &candidate;
  return best;
}

}  // namespace benanza::gap
