// SPDX-License-Identifier: Apache-2.0
// RecordedSequence: a sequence on a device, recorded once, so that the processor launches it as one graph.
#pragma once

#include "sequence.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace benanza::execution {

class RecordedSequence {
 public:
  /// Executes it once: libraries do on their first call what they refuse to do while they are recorded. Throws as
  /// Sequence does.
  RecordedSequence(const Sequence::Model& model, const PlanChoice& choice);

  /// Whether it could be recorded; otherwise calls are enqueued one by one.
  [[nodiscard]] bool one_graph() const { return recording_ != nullptr; }
  /// Executes it and waits for the device; what both took by the processor's clock.
  [[nodiscard]] Seconds run();
  [[nodiscard]] Sequence& sequence() { return *sequence_; }

 private:
  Device& device_;
  std::unique_ptr<Sequence> sequence_;
  std::unique_ptr<Recording> recording_;  ///< is gone before what it replays
};

struct FastestRecorded {
  std::unique_ptr<RecordedSequence> sequence{};
  PlanChoice choice{};
  std::size_t tried = 0;  ///< sequences that were executed
};

/// The sequence whose executions take least, among those that rows propose; tries them for about this long. Throws what
/// the last of them threw, where none can be executed.
[[nodiscard]] FastestRecorded find_fastest_recorded(const Sequence::Model& model, Seconds budget);

}  // namespace benanza::execution
