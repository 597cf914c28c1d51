// SPDX-License-Identifier: Apache-2.0
// Arena: one block of memory in which tensors that are not alive at the same time share bytes.
#pragma once

#include "plan/memory_block.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace benanza::execution {

/// An arena of at least this size uses huge pages, as does the memory in which rows are measured.
constexpr std::size_t least_for_huge_pages = std::size_t{1} << 17;

/// Memory that is needed from one step to another, both included.
struct MemoryNeed {
  std::size_t bytes = 0;
  std::size_t first = 0, last = 0;
};

class Arena {
 public:
  /// Alignment of regions, which is what plans require of their workspaces (plan/backend.hpp).
  static constexpr std::size_t alignment = 256;

  /// Places the regions, the largest first, each at the lowest offset where it overlaps no region that is alive at the
  /// same time. The block is in `where`, the memory of a device, if that is not null.
  explicit Arena(std::span<const MemoryNeed> regions, Memory* where = nullptr);

  [[nodiscard]] std::byte* at(std::size_t region) const { return block_.data() + offsets_[region]; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
  detail::MemoryBlock block_{};
};

}  // namespace benanza::execution
