// SPDX-License-Identifier: Apache-2.0
// is_known: whether the database has the rows that a layer needs, or its plans must be selected.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/results/measurement.hpp>

#include <span>
#include <string>
#include <vector>

namespace benanza::measure {

/// The cache states among those asked for that a layer can be in. If only cold weights were asked for, a layer without
/// weights is measured with everything in the caches.
[[nodiscard]] std::vector<CacheState> states_of(const Layer& layer, std::span<const CacheState> asked);

/// What the rows of a layer have to cover.
struct Question {
  std::vector<std::string> backends{};
  std::vector<CacheState> caches{};
  int threads = 1;       ///< the most
  bool certain = false;  ///< rows that failed, or that the budget left noisy or untried, do not count
};

/// Whether every backend was asked, plans were tried with as many threads as the question has, and every cache state
/// that the layer can be in has a time, unless no plan runs.
[[nodiscard]] bool is_known(const Layer& layer, std::span<const Measurement> rows, const Question& question);

}  // namespace benanza::measure
