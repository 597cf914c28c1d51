// SPDX-License-Identifier: Apache-2.0
// BetweenLibraries: collects what runs between two consecutive library calls of a thread.
#pragma once

#include "nsys_timeline.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::profile {

/// `cudaStreamWaitEvent` of `cudaStreamWaitEvent_v3020`: CUPTI adds the version that introduced a call.
[[nodiscard]] std::string without_version(const std::string& call);

class BetweenLibraries {
 public:
  explicit BetweenLibraries(const LibrarySpans& spans) : spans_(spans) {}

  /// Adds an event that its thread called for at `moment`, in the pass from `begin` to `end`. Returns false, and
  /// collects nothing, unless that moment lies between two library calls of the pass: one that ends in it, and one that
  /// begins in it.
  bool add(const DeviceEvent& event, std::int64_t moment, std::int64_t begin, std::int64_t end);
  /// Averages over this many passes, longest first.
  [[nodiscard]] std::vector<BetweenCalls> take(std::size_t passes) const;

 private:
  struct Sum {
    std::int64_t count = 0, time = 0;
    std::map<std::vector<std::string>, std::int64_t> chains{};
  };
  const LibrarySpans& spans_;
  std::map<std::tuple<Activity, std::string, std::string, std::string>, Sum> sums_{};
};

}  // namespace benanza::profile
