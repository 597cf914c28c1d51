// SPDX-License-Identifier: Apache-2.0
// Iteration: the times of one iteration of training on one worker, and the gradients that several workers would
// exchange. `make_iteration` builds one from a training graph and the times of its layers.
#pragma once

#include <benanza/bounds/unit_shares.hpp>
#include <benanza/model/data_type.hpp>
#include <benanza/model/units.hpp>
#include <benanza/training/training_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

/// Calls that run one after the other on a worker.
struct ComputeStep {
  std::string name{};
  Phase phase = Phase::forward;
  Seconds time{};
};

/// A parameter's gradient.
struct GradientReady {
  std::string name{};      ///< name of the parameter
  std::size_t made = 0;    ///< index into `backward`: the step that completes it
  std::size_t needed = 0;  ///< index into `forward`: the first step of the next iteration that reads the parameter
  Bytes bytes{};
};

struct Iteration {
  std::string model{}, file{};
  std::int64_t batch = 1;                  ///< batch of each worker
  DataType type = DataType::f32;           ///< type of the gradients
  std::vector<ComputeStep> forward{};      ///< includes the loss
  std::vector<ComputeStep> backward{};     ///< not empty if there are gradients
  Seconds update{};                        ///< the optimizer's step over all parameters
  std::vector<GradientReady> gradients{};  ///< in the order in which backward completes them
  double uncertainty = 0;                  ///< relative, of `time()`, which is between 1 - and 1 + this; 0: not known
  std::optional<UnitShares> units{};       ///< shares of `time()`

  [[nodiscard]] static Seconds sum(const std::vector<ComputeStep>& steps) {
    Seconds total{};
    for (const auto& step : steps) total += step.time;
    return total;
  }
  /// Time on one worker, which exchanges nothing: T1.
  [[nodiscard]] Seconds time() const { return sum(forward) + sum(backward) + update; }
  /// Bytes that each worker has to exchange: S.
  [[nodiscard]] Bytes gradient_bytes() const {
    Bytes total{};
    for (const auto& gradient : gradients) total += gradient.bytes;
    return total;
  }
};

/// Times of the phases of an iteration.
struct PhaseTimes {
  Seconds forward{};  ///< includes the loss
  Seconds backward{}, update{};
};

/// The iteration with all times scaled by one factor, so that it takes `time`. An iteration that takes no time stays
/// unchanged.
[[nodiscard]] inline Iteration scaled_to(Iteration iteration, Seconds time) {
  if (iteration.time().value <= 0) return iteration;
  const double factor = time / iteration.time();
  if (iteration.units)
    iteration.units = UnitShares{iteration.units->arithmetic / factor, iteration.units->memory / factor};
  for (auto* steps : {&iteration.forward, &iteration.backward})
    for (auto& step : *steps) step.time = step.time * factor;
  iteration.update = iteration.update * factor;
  return iteration;
}

/// The iteration with the times of each phase scaled by one factor, so that the phase takes the time in `phases`. A
/// phase that takes no time stays unchanged.
[[nodiscard]] inline Iteration with_phases(Iteration iteration, const PhaseTimes& phases) {
  const Seconds before = iteration.time();
  const auto scale = [](std::vector<ComputeStep>& steps, Seconds time) {
    const Seconds now = Iteration::sum(steps);
    for (auto& step : steps)
      if (now.value > 0) step.time = step.time * (time / now);
  };
  scale(iteration.forward, phases.forward);
  scale(iteration.backward, phases.backward);
  if (iteration.update.value > 0) iteration.update = phases.update;
  if (iteration.units && before.value > 0) {
    const double factor = iteration.time() / before;
    iteration.units = UnitShares{iteration.units->arithmetic / factor, iteration.units->memory / factor};
  }
  return iteration;
}

}  // namespace benanza
