// SPDX-License-Identifier: Apache-2.0
// RecordedSequence: a sequence on a device, recorded once so that the processor launches it as one graph.
#pragma once

#include "sequence.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace benanza::execution {

class RecordedSequence {
 public:
  /// Executes it once, since libraries do things on their first call that are not allowed during recording. Throws like
  /// Sequence.
  RecordedSequence(const Sequence::Model& model, const PlanChoice& choice);

  /// Whether it could be recorded; if not, calls are enqueued one by one.
  [[nodiscard]] bool one_graph() const { return recording_ != nullptr; }
  /// Executes it and waits for the device. Returns the time of both by the processor's clock.
  [[nodiscard]] Seconds run();
  [[nodiscard]] Sequence& sequence() { return *sequence_; }

 private:
  Device& device_;
  std::unique_ptr<Sequence> sequence_;
  std::unique_ptr<Recording> recording_;  ///< destroyed before what it replays
};

struct FastestRecorded {
  std::unique_ptr<RecordedSequence> sequence{};
  PlanChoice choice{};
  std::size_t tried = 0;  ///< sequences that were executed
};

/// The fastest sequence among those that rows suggest; tries them for about `budget`. If none can be executed, rethrows
/// the last exception.
[[nodiscard]] FastestRecorded find_fastest_recorded(const Sequence::Model& model, Seconds budget);

}  // namespace benanza::execution
