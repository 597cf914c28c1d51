// SPDX-License-Identifier: Apache-2.0
// Memory: a memory for the buffers of calls that the processor cannot read: a device's. The processor's own memory is
// not one of these: a null pointer to a Memory stands for it.
#pragma once

#include <benanza/model/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace benanza {

class Memory {
 public:
  virtual ~Memory() = default;
  /// Aligned to at least 256 bytes. Throws std::bad_alloc.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;
  /// Copies from the processor's memory, after all pending work. Returns when the copy is done.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  /// The same, to the processor's memory.
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Copies single elements of `width` bytes to the processor's memory in the same way: to[i] = from[positions[i]], one
  /// after the other. Positions count elements.
  virtual void gather(void* to, const void* from, std::span<const std::int64_t> positions, std::size_t width) = 0;
  /// Writes the same byte everywhere, after all pending work. Returns when this is done.
  virtual void set(void* to, unsigned char byte, std::size_t bytes) = 0;
  /// The memory that can still be allocated.
  [[nodiscard]] virtual Bytes available() const = 0;
};

}  // namespace benanza
