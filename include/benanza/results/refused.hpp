// SPDX-License-Identifier: Apache-2.0
// Rows of plans that a backend lists but cannot build, as cuDNN does with some of the engines that its heuristics name.
// Like a layer without any plan, and unlike a failure, such a row does not leave a bound incomplete.
#pragma once

#include <benanza/results/measurement.hpp>

#include <string_view>

namespace benanza {

/// How the reason of such a row begins.
inline constexpr std::string_view refused = "not offered: ";

/// Whether a row says that its backend cannot run the layer this way, rather than that a plan failed.
[[nodiscard]] inline bool cannot_run(const Measurement& row) {
  return is_unsupported(row) || (row.excluded && row.excluded->starts_with(refused));
}

}  // namespace benanza
