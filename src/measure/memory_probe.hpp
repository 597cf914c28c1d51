// SPDX-License-Identifier: Apache-2.0
// MemoryProbe: times a fixed amount of work beyond the caches: dependent loads, and consecutive ones. Another process
// that uses the memory slows both. It does not slow a loop that works in registers.
#pragma once

#include "host.hpp"
#include <benanza/model/units.hpp>
#include <benanza/plan/memory_block.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace benanza::bench {

class MemoryProbe {
 public:
  /// `beyond`: bytes after which no cache holds what was touched before them; that much is allocated and written.
  /// `now`: a clock.
  MemoryProbe(Bytes beyond, std::function<Seconds()> now);

  /// Takes some 100 us on an idle machine. Each time is that of the fastest of a few parts, so that an interrupt, or
  /// stores that are still on their way, are not taken for another process. Calls touch different lines until all were
  /// touched.
  [[nodiscard]] MemoryTimes read();
  /// Reads this many bytes in a row, or somewhat more, and times nothing.
  void walk(Bytes bytes);

 private:
  void walk_part();

  detail::MemoryBlock block_;
  std::span<std::uint64_t> words_;  ///< in it; all 1
  std::function<Seconds()> now_;
  std::uint64_t place_ = 0;   ///< where the chase goes on; a pseudo-random number
  std::size_t position_ = 0;  ///< where the walk goes on
  std::uint64_t sum_ = 0;     ///< sum of what was read, so that nothing is optimised away
};

}  // namespace benanza::bench
