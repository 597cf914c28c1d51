// SPDX-License-Identifier: Apache-2.0
// A sign of life of a backend that makes many plans in one call: the supervisor (supervisor.hpp) must not take it for
// one that hangs.
#pragma once

#include <functional>

namespace benanza {

/// Called by a backend between long steps of making plans. Does nothing without a listener.
void beat();

/// Listens as long as it exists; one at a time.
class BeatListener {
 public:
  explicit BeatListener(std::function<void()> listener);
  ~BeatListener();
  BeatListener(const BeatListener&) = delete;
  BeatListener& operator=(const BeatListener&) = delete;
};

}  // namespace benanza
