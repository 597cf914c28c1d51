// SPDX-License-Identifier: Apache-2.0
// FilledRegions: the memory of row-major inputs: one region for each kind of contents, filled once and shared by all
// layers, since random data serves any layer. A region grows with the largest layer, and may move when it grows:
// pointers are valid until the next call.
#pragma once

#include "placement.hpp"
#include "plan/memory_block.hpp"
#include <benanza/op/operator.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace benanza::sampling {

/// Operands with equal regions are filled alike, and share memory.
using Region = std::tuple<DataType, Contents, std::int64_t, int>;
[[nodiscard]] inline Region region_of(const Operand& operand) {
  return {operand.type, operand.contents, operand.limit, operand.exponent};
}

class FilledRegions {
 public:
  /// `memory`: where calls' buffers lie; null means the processor's memory.
  explicit FilledRegions(Memory* memory) : memory_(memory) {}

  /// The region from which calls read an operand, of at least this many bytes.
  [[nodiscard]] std::byte* for_calls(const Operand& operand, std::size_t bytes);
  /// The operands where calls read them; operand i occupies at least `bytes[i]` bytes.
  [[nodiscard]] std::vector<const void*> for_calls(const std::vector<Operand>& operands,
                                                   std::span<const std::size_t> bytes);
  /// Operands in the processor's memory. They have the same values as where calls read operands of their own size.
  [[nodiscard]] std::vector<const void*> plain(const std::vector<Operand>& operands);

 private:
  [[nodiscard]] std::byte* filled(const Operand& operand, std::size_t bytes);

  Memory* memory_;
  std::map<Region, detail::MemoryBlock> filled_{}, on_device_{};
};

}  // namespace benanza::sampling
