// SPDX-License-Identifier: Apache-2.0
// MemoryProbe: times a fixed amount of work beyond the caches: dependent loads, and consecutive ones. Another process
// that uses the memory slows both. It does not slow a loop that works in registers.
#pragma once

#include "host.hpp"
#include "plan/memory_block.hpp"
#include <benanza/model/units.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace benanza::sampling {

class MemoryProbe {
 public:
  /// `beyond`: number of bytes after which no cache holds what was touched before them; this amount is allocated and
  /// written. `now`: a clock.
  MemoryProbe(Bytes beyond, std::function<Seconds()> now);

  /// Takes some 100 us on an idle machine. Each time is the fastest of a few parts, so that an interrupt, or pending
  /// stores, are not mistaken for another process. Calls touch different lines until all have been touched.
  [[nodiscard]] MemoryTimes read();
  /// Reads this many bytes or slightly more in a row, without timing.
  void walk(Bytes bytes);

 private:
  void walk_part();

  detail::MemoryBlock block_;
  std::span<std::uint64_t> words_;  ///< in the block; all 1
  std::function<Seconds()> now_;
  std::uint64_t place_ = 0;   ///< where the chase continues; a pseudo-random number
  std::size_t position_ = 0;  ///< where the walk continues
  std::uint64_t sum_ = 0;     ///< sum of the values read, so that nothing is optimized away
};

}  // namespace benanza::sampling
