// SPDX-License-Identifier: Apache-2.0
// The rivals of a layer, by what their plans' names say.
#pragma once

#include "row_times.hpp"

#include <string_view>

namespace benanza::analysis {

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

/// The fastest rival that may be chosen and for which `holds`.
template <class Holds>
[[nodiscard]] const Measurement* fastest(const LayerRow& row, Holds holds) {
  const Measurement* best = nullptr;
  for (const auto& rival : row.rivals)
    if (!rival.excluded && holds(rival) && (!best || RowTimes::expected(rival) < RowTimes::expected(*best)))
      best = &rival;
  return best;
}

}  // namespace benanza::analysis
