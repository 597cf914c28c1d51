// SPDX-License-Identifier: Apache-2.0
// RelatedTimes: how long the plans of a layer took, for layers that differ from it only in the epilogue. A plan that is
// fast for a convolution is nearly always fast for the same convolution with a bias or a ReLU.
#pragma once

#include "tuning_task.hpp"

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace benanza::measure {

class RelatedTimes {
 public:
  /// Keeps the times of all candidates of a task. A later layer with the same plan replaces an earlier one.
  void add(const TuningTask& task, const sampling::Sampler& sampler);
  /// The signature that related layers share; empty for operators that have no epilogue.
  [[nodiscard]] static std::string shared_signature(const Layer& layer);
  /// The time of the same plan in the same cache state for a layer with this shared signature; null if it was not
  /// tried.
  [[nodiscard]] std::optional<Seconds> of(const std::string& shared_signature, const Measurement& row) const;

 private:
  /// Shared signature, backend, algorithm, cache state.
  using Key = std::tuple<std::string, std::string, std::string, CacheState>;
  std::map<Key, Seconds> times_{};
};

}  // namespace benanza::measure
