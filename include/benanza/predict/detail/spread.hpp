// SPDX-License-Identifier: Apache-2.0
// The errors of predictions, from which their intervals come: observed on the layers and totals of 29 models on four
// GPUs at three batch sizes that the original Benanza published. docs/predicting.md, "Intervals", says how; a test
// recomputes the figures.
#pragma once

#include <benanza/predict/prediction.hpp>

#include <cstdint>

namespace benanza {

/// The measured time is expected to differ from the predicted one by at most this factor in nine of ten cases.
struct Spread {
  double of_total = 1;
  double of_layer = 1;  ///< layers weighted by their time
};

/// What decides how well a formula predicts: small batches and short calls do not fill a GPU.
struct CallSize {
  std::int64_t batch = 1;
  Seconds call{};  ///< length of a call on the origin, weighted by time over the layers of the model
};

[[nodiscard]] constexpr Spread spread_of(PredictionMethod method, const CallSize& size) {
  switch (method) {
    case PredictionMethod::database_ratio: return {.of_total = 1.15, .of_layer = 1.3};
    case PredictionMethod::wave:  // no data had the geometry of kernels: as for the coarser formula
    case PredictionMethod::large_wave:
      if (size.batch >= 32 && size.call.value >= 1e-4) return {.of_total = 1.35, .of_layer = 1.8};
      if (size.batch >= 8 || size.call.value >= 1e-3) return {.of_total = 1.8, .of_layer = 1.8};
      return {.of_total = 2.9, .of_layer = 3.2};
    case PredictionMethod::measured:
    case PredictionMethod::no_basis: break;
  }
  return {};
}

[[nodiscard]] inline PredictedTime with_spread(Seconds time, double factor) {
  return {.time = time, .low = time / factor, .high = time * factor};
}

}  // namespace benanza
