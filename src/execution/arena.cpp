// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace benanza::execution {

Arena::Arena(std::span<const MemoryNeed> regions, Memory* where) : offsets_(regions.size(), 0) {
  const auto size_of = [&](std::size_t i) { return (regions[i].bytes + alignment - 1) / alignment * alignment; };
  std::vector<std::size_t> order(regions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size_of(a) > size_of(b); });
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t i : order) {
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (regions[other].last < regions[i].first || regions[i].last < regions[other].first) continue;
      if (offset + size_of(i) <= offsets_[other]) break;
      offset = std::max(offset, offsets_[other] + size_of(other));
    }
    offsets_[i] = offset;
    bytes_ = std::max(bytes_, offset + size_of(i));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t b) { return offsets_[a] < offsets_[b]; }),
                  i);
  }
  constexpr std::size_t page = detail::MemoryBlock::alignment;
  if (where != nullptr) {
    block_ = detail::MemoryBlock(bytes_ + 1, where);
    where->set(block_.data(), 0, bytes_);
    return;
  }
  block_ = detail::MemoryBlock(bytes_ < least_for_huge_pages ? bytes_ + 1 : (bytes_ + page - 1) / page * page);
  std::memset(block_.data(), 0, bytes_);  // so that the first execution does not pay for page faults
}

}  // namespace benanza::execution
