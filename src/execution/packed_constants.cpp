// SPDX-License-Identifier: Apache-2.0
#include "packed_constants.hpp"

#include "arena.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::execution {

const void* PackedConstants::of(const Plan& plan, std::size_t input, const Tensor& constant) {
  const Layout& layout = plan.inputs()[input];
  const bool is_plain = layout.name == "plain";
  const auto [found, added] = packed_.try_emplace({is_plain ? nullptr : &plan, is_plain ? 0 : input, constant.data()});
  if (!added) return found->second;
  sources_.push_back(constant);
  if (is_plain) {
    found->second = allocate(constant.bytes());
    std::memcpy(found->second, constant.data(), constant.bytes());
  } else {
    found->second = allocate(layout.bytes);
    plan.pack_input(input, constant.data(), found->second);
  }
  return found->second;
}

std::byte* PackedConstants::allocate(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{32} << 20, page = detail::MemoryBlock::alignment;
  const std::size_t size = (bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment;
  if (blocks_.empty() || used_ + size > blocks_.back().size()) {
    blocks_.emplace_back(std::max(least, (size + page - 1) / page * page));
    used_ = 0;
  }
  std::byte* const result = blocks_.back().data() + used_;
  used_ += size;
  bytes_ += size;
  return result;
}

}  // namespace benanza::execution
