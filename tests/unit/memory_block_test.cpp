// SPDX-License-Identifier: Apache-2.0
#include "plan/memory_block.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <cstring>

using benanza::detail::MemoryBlock;

TEST_CASE("a block grows with its contents, aligned, and zero after them") {
  constexpr std::size_t mib = std::size_t{1} << 20;
  MemoryBlock block;
  std::size_t before = 0;
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{5000}, mib, 3 * mib, 7 * mib + 1, 20 * mib}) {
    block.grow(bytes);
    REQUIRE(block.size() >= bytes);
    if (bytes >= MemoryBlock::alignment)
      CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % MemoryBlock::alignment == 0);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
      wrong += block.data()[i] != (i < before ? static_cast<std::byte>(i % 251) : std::byte{});
    CHECK(wrong == 0);
    before = block.size();
    for (std::size_t i = 0; i < before; ++i) block.data()[i] = static_cast<std::byte>(i % 251);
  }
  block.grow(1);
  CHECK(block.size() == before);  // never smaller
}
