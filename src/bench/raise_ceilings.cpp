// SPDX-License-Identifier: Apache-2.0
#include "ceilings.hpp"
#include <benanza/detail/quantile.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::bench {

namespace {

void raise(std::vector<CeilingRow>& ceilings, const Measurement& row, const CeilingRow& beaten, double value) {
  ceilings.push_back({.quantity = beaten.quantity,
                      .algorithm = row.name(),
                      .threads = row.threads,
                      .value = value,
                      .in_front_bytes = beaten.in_front_bytes});
}

/// The least time that a bound may count of a row: over its samples, or over common rounds.
Seconds least_counted(const Measurement& row) {
  const double low = detail::quantile(row.rounds_s, 0.1);
  return std::isfinite(low) ? std::min(row.p10, Seconds{low}) : row.p10;
}

/// The highest row of each quantity at a thread count.
std::map<std::string, CeilingRow> highest(std::span<const CeilingRow> ceilings, int threads) {
  std::map<std::string, CeilingRow> result;
  for (const auto& ceiling : ceilings) {
    if (ceiling.threads != threads) continue;
    auto& best = result.try_emplace(ceiling.quantity, ceiling).first->second;
    if (ceiling.value > best.value) best = ceiling;
  }
  return result;
}

}  // namespace

void raise_ceilings(std::vector<CeilingRow>& ceilings, std::span<const Measurement> rows,
                    const std::map<std::string, Layer>& layers) {
  for (const auto& row : rows) {
    const auto layer = layers.find(row.signature);
    if (layer == layers.end() || row.excluded || row.contended || !(row.p10.value > 0)) continue;
    const Cost layer_cost = cost(layer->second);
    const Seconds time = least_counted(row);
    const double read = (layer_cost.weights + layer_cost.activations).value, written = layer_cost.written.value;
    for (const auto& [quantity, ceiling] : highest(ceilings, row.threads)) {
      if (quantity == "Peak/" + std::string(name(arithmetic_type(layer->second)))) {
        const double reached = layer_cost.flops.value / time.value;
        if (!row.saves_multiplications && reached > ceiling.value) raise(ceilings, row, ceiling, reached);
      } else if (quantity.starts_with("Bandwidth/")) {
        const double crossing =
            std::max(0.0, read - ceiling.in_front_bytes) + std::max(0.0, written - ceiling.in_front_bytes);
        if (crossing / time.value > ceiling.value) raise(ceilings, row, ceiling, crossing / time.value);
      }
    }
  }
}

}  // namespace benanza::bench
