// SPDX-License-Identifier: Apache-2.0
// FilledRegions: the memory that row-major inputs lie in: one region for each kind of contents, filled once and shared
// by all layers, since random data is as good for one layer as for the next. A region grows with the largest layer, and
// may move then: pointers hold until the next call.
#pragma once

#include "placement.hpp"
#include <benanza/op/operator.hpp>
#include <benanza/plan/memory_block.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace benanza::bench {

/// Operands of equal regions are filled alike, and share memory.
using Region = std::tuple<DataType, Contents, std::int64_t, int>;
[[nodiscard]] inline Region region_of(const Operand& operand) {
  return {operand.type, operand.contents, operand.limit, operand.exponent};
}

class FilledRegions {
 public:
  /// `memory`: where calls' buffers lie, null for the processor's.
  explicit FilledRegions(Memory* memory) : memory_(memory) {}

  /// The region of an operand where calls read it, of at least this many bytes.
  [[nodiscard]] std::byte* for_calls(const Operand& operand, std::size_t bytes);
  /// Operands where calls read them; each has room for as many bytes as `bytes` says.
  [[nodiscard]] std::vector<const void*> for_calls(const std::vector<Operand>& operands,
                                                   std::span<const std::size_t> bytes);
  /// Operands in the processor's memory. Where calls read operands of their own size, they have the same values.
  [[nodiscard]] std::vector<const void*> plain(const std::vector<Operand>& operands);

 private:
  [[nodiscard]] std::byte* filled(const Operand& operand, std::size_t bytes);

  Memory* memory_;
  std::map<Region, detail::MemoryBlock> filled_{}, on_device_{};
};

}  // namespace benanza::bench
