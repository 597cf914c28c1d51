// SPDX-License-Identifier: Apache-2.0
// Caches: which caches serve which processors.
#pragma once

#include <benanza/model/units.hpp>

#include <span>
#include <vector>

namespace benanza::ceilings {

/// One data or unified cache.
struct Cache {
  int level = 1;
  Bytes size{};
  std::vector<int> cpus{};  ///< those of the given processors that it serves
};

/// The caches that the processors reach, innermost first; empty if the system does not report them.
[[nodiscard]] std::vector<Cache> caches_of(std::span<const int> cpus);

}  // namespace benanza::ceilings
