// SPDX-License-Identifier: Apache-2.0
#include "memory_block.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace benanza::detail {

namespace {

std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

/// Moves existing pages to another place; the old range stays mapped and is empty.
bool move_pages(void* from, void* to, std::size_t bytes) {
#ifdef MREMAP_DONTUNMAP
  const int how = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  return mremap(from, whole_pages(bytes), whole_pages(bytes), how, to) == to;
#else
  static_cast<void>(from), static_cast<void>(to), static_cast<void>(bytes);
  return false;
#endif
}

}  // namespace

MemoryBlock::MemoryBlock(std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const std::size_t rounded = whole_pages(bytes);
  const std::size_t mapped_size = rounded < alignment ? rounded : rounded + alignment;
  void* const mapped = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = mapped;
  mapped_size_ = mapped_size;
  size_ = bytes;
  data_ = static_cast<std::byte*>(mapped);
  if (rounded < alignment) return;
  data_ += (alignment - reinterpret_cast<std::uintptr_t>(mapped) % alignment) % alignment;
  static_cast<void>(madvise(data_, rounded, MADV_HUGEPAGE));  // a hint: if it is ignored, pages are small
}

void MemoryBlock::grow(std::size_t bytes) {
  if (bytes <= size_) return;
  MemoryBlock larger(bytes);
  const bool moved = size_ >= alignment && move_pages(data_, larger.data_, size_);
  if (!moved && size_ > 0) std::memcpy(larger.data_, data_, size_);
  *this = std::move(larger);
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

std::byte* grown(MemoryBlock& block, std::size_t bytes, Memory* memory) {
  const std::size_t before = block.size();
  if (before >= bytes) return block.data();
  if (memory == nullptr) {
    block.grow(bytes + bytes / 8);
    std::memset(block.data() + before, 0, block.size() - before);  // allocates the pages
  } else {
    block = MemoryBlock();  // release before allocating
    block = MemoryBlock(bytes, memory);
    memory->set(block.data(), 0, bytes);
  }
  return block.data();
}

}  // namespace benanza::detail
