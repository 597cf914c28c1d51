// SPDX-License-Identifier: Apache-2.0
// Placement: where the buffers of a layer begin. Each starts at a different offset in its page (64-byte aligned; a
// workspace: 256), which is the same for all candidates. Equal offsets would make loads wait for unrelated stores (4
// KiB aliasing), which may or may not happen in an engine. On a device, every buffer is aligned to 256 bytes, as
// cudaMalloc aligns the buffers of engines: other accesses would cross cache lines.
#pragma once

#include <cstddef>

namespace benanza::sampling {

/// Alignment of a workspace; libraries refuse a smaller one (cuBLAS documentation, cublasSetWorkspace: 256 bytes).
inline constexpr std::size_t workspace_alignment = 256;

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// The offset in its page at which buffer `number` of a layer begins.
[[nodiscard]] constexpr std::size_t place_in_page(std::size_t number, bool on_device) {
  return on_device ? number % 3 * 5 * 256 : number % 12 * 5 * 64;
}

/// Places buffers one after another.
class Placement {
 public:
  explicit Placement(bool on_device) : on_device_(on_device) {}
  /// Offset of a buffer of this many bytes, at a multiple of `alignment`.
  std::size_t add(std::size_t bytes, std::size_t number, std::size_t alignment = 64) {
    constexpr std::size_t page = 4096;
    const std::size_t offset = rounded_up(rounded_up(end_, page) + place_in_page(number, on_device_), alignment);
    end_ = offset + bytes;
    return offset;
  }
  /// Slightly more than the last buffer's end, since kernels may load whole vectors.
  [[nodiscard]] std::size_t size() const { return end_ + 256; }

 private:
  bool on_device_;
  std::size_t end_ = 0;
};

}  // namespace benanza::sampling
