// SPDX-License-Identifier: Apache-2.0
#include "memory_block.hpp"

#include <cstdint>
#include <new>
#include <sys/mman.h>

namespace benanza::bench {

MemoryBlock::MemoryBlock(std::size_t bytes) {
  if (bytes == 0) return;
  constexpr std::size_t page = 4096;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const std::size_t rounded = (bytes + page - 1) / page * page;
  const std::size_t mapped_size = rounded < alignment ? rounded : rounded + alignment;
  void* const mapped = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = mapped;
  mapped_size_ = mapped_size;
  size_ = bytes;
  data_ = static_cast<std::byte*>(mapped);
  if (rounded < alignment) return;
  data_ += (alignment - reinterpret_cast<std::uintptr_t>(mapped) % alignment) % alignment;
  static_cast<void>(madvise(data_, rounded, MADV_HUGEPAGE));  // a wish: without it the pages are small
}

MemoryBlock::MemoryBlock(std::size_t bytes, Memory* where) {
  if (where == nullptr) {
    *this = MemoryBlock(bytes);
    return;
  }
  data_ = static_cast<std::byte*>(where->allocate(bytes));
  size_ = bytes;
  where_ = where;
}

MemoryBlock::~MemoryBlock() {
  if (where_ != nullptr) where_->release(data_);
  else if (mapped_ != nullptr) munmap(mapped_, mapped_size_);
}

}  // namespace benanza::bench
