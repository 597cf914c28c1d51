// SPDX-License-Identifier: Apache-2.0
// CeilingRow: a measured ceiling, stored as a row like those of layers.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/results/ceiling_quantity.hpp>

#include <string>
#include <string_view>

namespace benanza {

/// The backend of rows that hold ceilings.
inline constexpr std::string_view machine_backend = "machine";

struct CeilingRow {
  CeilingQuantity quantity{};
  std::string algorithm{};  ///< what reached it: `fma:avx2,threads=1`, or the name of a layer's row that raised it
  int threads = 1;
  double value = 0;
  double in_front_bytes = 0;  ///< for bandwidths, and for times of the memory

  [[nodiscard]] std::string name() const {
    return std::string(machine_backend) + "/" + algorithm + "/hot/" + quantity.text();
  }
  /// Its time as a row; for a rate, the time of one FLOP or one byte.
  [[nodiscard]] Seconds time() const { return {quantity.kind == CeilingQuantity::Kind::timer ? value : 1 / value}; }
};

}  // namespace benanza
