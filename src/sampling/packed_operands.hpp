// SPDX-License-Identifier: Apache-2.0
// PackedOperands: operands in a library's own layout. Constants are kept across layers while they fit under a limit;
// activations are kept until another layer comes.
#pragma once

#include "plan/memory_block.hpp"
#include <benanza/plan/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace benanza::sampling {

class PackedOperands {
 public:
  /// `limit`: bytes that may be kept. `memory`: where calls' buffers lie; null means the processor's memory.
  PackedOperands(std::size_t limit, Memory* memory) : limit_(limit), memory_(memory) {}

  /// To be called before the operands of a call. The call's operands stay until the next `begin_call`, even if they
  /// exceed the limit.
  void begin_call(const std::string& layer);
  /// Input `i` of a plan, where calls read it; packed from `plain` unless it is kept under that key.
  [[nodiscard]] const void* packed(const std::string& key, bool constant, const Plan& plan, std::size_t i,
                                   const void* plain);

 private:
  struct Entry {
    std::string key{};
    bool constant = false;
    detail::MemoryBlock block{};
    std::byte* data = nullptr;
    std::uint64_t used = 0;  ///< the call that last used it
  };
  void pack(const Plan& plan, std::size_t i, const void* plain, std::byte* to);
  void forget(std::list<Entry>::iterator entry);

  std::size_t limit_;
  Memory* memory_;
  detail::MemoryBlock staging_{};
  std::string layer_{};
  std::uint64_t calls_ = 0;
  std::list<Entry> entries_{};  // most recently used first
  std::map<std::string, std::list<Entry>::iterator> index_{};
  std::size_t kept_ = 0;
};

}  // namespace benanza::sampling
