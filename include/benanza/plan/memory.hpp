// SPDX-License-Identifier: Apache-2.0
// Memory: a space that the buffers of calls lie in and that the processor cannot read: a device's. The processor's own
// memory is not one of these: where a function takes a pointer to a Memory, null stands for it.
#pragma once

#include <benanza/model/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace benanza {

class Memory {
 public:
  virtual ~Memory() = default;
  /// Aligned to 256 bytes at least. Throws std::bad_alloc.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;
  /// From the processor's memory; after all work that is under way. Returns when it is done.
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  /// To the processor's memory, likewise.
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  /// Brings single elements of `width` bytes to the processor's memory, likewise: to[i] = from[positions[i]], one after
  /// the other. Positions count elements.
  virtual void gather(void* to, const void* from, std::span<const std::int64_t> positions, std::size_t width) = 0;
  /// Writes the same byte everywhere, likewise.
  virtual void set(void* to, unsigned char byte, std::size_t bytes) = 0;
  /// What can still be allocated.
  [[nodiscard]] virtual Bytes available() const = 0;
};

}  // namespace benanza
