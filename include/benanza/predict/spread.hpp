// SPDX-License-Identifier: Apache-2.0
// The errors of predictions, from which their intervals come: observed on the layers and totals of 29 models on four
// GPUs at three batch sizes that the original Benanza published. docs/predicting.md, "Intervals", says how; a test
// recomputes the figures.
#pragma once

#include <benanza/predict/prediction.hpp>

namespace benanza {

/// With a probability of 90 %, the measured time differs from the predicted one by at most this factor.
struct Spread {
  double of_total = 1;
  double of_layer = 1;  ///< layers weighted by their time
};

[[nodiscard]] constexpr Spread spread_of(PredictionMethod method) {
  switch (method) {
    case PredictionMethod::database_ratio: return {.of_total = 1.15, .of_layer = 1.3};
    case PredictionMethod::wave:  // no data had the geometry of kernels: as for the coarser formula
    case PredictionMethod::large_wave: return {.of_total = 1.9, .of_layer = 1.8};
    case PredictionMethod::measured:
    case PredictionMethod::no_basis: break;
  }
  return {};
}

[[nodiscard]] inline PredictedTime with_spread(Seconds time, double factor) {
  return {.time = time, .low = time / factor, .high = time * factor};
}

}  // namespace benanza
