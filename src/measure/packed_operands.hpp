// SPDX-License-Identifier: Apache-2.0
// PackedOperands: operands in a library's own layout. Constants are kept from layer to layer, as long as they fit under
// a limit; activations until another layer comes.
#pragma once

#include <benanza/plan/backend.hpp>
#include <benanza/plan/memory_block.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace benanza::bench {

class PackedOperands {
 public:
  /// `limit`: bytes that may be kept. `memory`: where calls' buffers lie, null for the processor's.
  PackedOperands(std::size_t limit, Memory* memory) : limit_(limit), memory_(memory) {}

  /// To be called before the operands of a call. What they are stays until the next, even if that exceeds the limit.
  void begin_call(const std::string& layer);
  /// Input `i` of a plan where calls read it, packed from `plain` unless it is kept under that key.
  [[nodiscard]] const void* packed(const std::string& key, bool constant, const Plan& plan, std::size_t i,
                                   const void* plain);

 private:
  struct Entry {
    std::string key{};
    bool constant = false;
    detail::MemoryBlock block{};
    std::byte* data = nullptr;
    std::uint64_t used = 0;  ///< by which call
  };
  void pack(const Plan& plan, std::size_t i, const void* plain, std::byte* to);
  void forget(std::list<Entry>::iterator entry);

  std::size_t limit_;
  Memory* memory_;
  detail::MemoryBlock staging_{};
  std::string layer_{};
  std::uint64_t calls_ = 0;
  std::list<Entry> entries_{};  // the one used last in front
  std::map<std::string, std::list<Entry>::iterator> index_{};
  std::size_t kept_ = 0;
};

}  // namespace benanza::bench
