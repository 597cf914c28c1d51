// SPDX-License-Identifier: Apache-2.0
// MemoryBlock: whole pages from the system, aligned to 2 MiB and offered huge pages (madvise), so that address
// translation costs every candidate the same and as little as possible: an engine that asks for huge pages is bounded
// too.
#pragma once

#include <benanza/plan/memory.hpp>

#include <cstddef>
#include <utility>

namespace benanza::detail {

class MemoryBlock {
 public:
  static constexpr std::size_t alignment = std::size_t{2} << 20;

  MemoryBlock() = default;
  /// Throws std::bad_alloc. Pages are zero and not yet resident.
  explicit MemoryBlock(std::size_t bytes);
  /// In a device's memory if `where` is not null; its contents are undefined.
  MemoryBlock(std::size_t bytes, Memory* where);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        mapped_(std::exchange(other.mapped_, nullptr)),
        mapped_size_(std::exchange(other.mapped_size_, 0)),
        where_(std::exchange(other.where_, nullptr)) {}
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_size_, other.mapped_size_);
    std::swap(where_, other.where_);
    return *this;
  }
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  /// Grows to at least this many bytes. Its contents and pages are kept, though they may move: clearing pages again
  /// would cost more than what they are for. Only for blocks in the processor's memory. Pages after the contents are
  /// zero and not yet resident. Throws std::bad_alloc.
  void grow(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  Memory* where_ = nullptr;
};

/// The data of a block that is grown to at least this many bytes, in `memory`, or in the processor's memory if that is
/// null. New bytes are zero, which are valid elements of every type; on a device all bytes are new.
[[nodiscard]] std::byte* grown(MemoryBlock& block, std::size_t bytes, Memory* memory);

}  // namespace benanza::detail
