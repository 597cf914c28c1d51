// SPDX-License-Identifier: Apache-2.0
// unit_shares: how busy the units of a machine are while a model runs at its bound.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>

#include <optional>

namespace benanza {

/// The least time of each unit as a share of the expected time of all fused layers. A share near 1 says that this unit
/// is used as well as it can be. If both are low, the libraries or the layers' sizes are the limit.
struct UnitShares {
  double arithmetic = 0;  ///< FLOPs that the plans need, at the measured peaks of their types
  double memory = 0;      ///< bytes at the measured bandwidths
};

/// Empty if layers are missing or no ceiling is known.
[[nodiscard]] inline std::optional<UnitShares> unit_shares(const Analysis& analysis) {
  if (analysis.partial()) return std::nullopt;
  Seconds arithmetic{}, memory{}, total{};
  for (const auto& row : analysis.rows) {
    if (row.form != Form::fused) continue;
    const auto count = static_cast<double>(row.count);
    const DataType type = arithmetic_type(parse_layer(row.signature));
    arithmetic +=
        count * analysis.ceilings.arithmetic_floor(type, row.is_direct() ? row.cost.flops : row.cost.least_flops);
    memory += count * analysis.ceilings.memory_floor(row.cost.weights + row.cost.activations, row.cost.written);
    total += count * row.median;
  }
  if (!(total.value > 0) || (arithmetic.value <= 0 && memory.value <= 0)) return std::nullopt;
  return UnitShares{arithmetic / total, memory / total};
}

}  // namespace benanza
