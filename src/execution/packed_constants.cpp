// SPDX-License-Identifier: Apache-2.0
#include "packed_constants.hpp"

#include "arena.hpp"

#include <algorithm>
#include <cstring>

namespace benanza::execution {

const void* PackedConstants::of(const Plan& plan, std::size_t input, const Tensor& constant) {
  const Layout& layout = plan.inputs()[input];
  if (layout.name == "plain") return row_major(constant);
  const auto [found, added] = packed_.try_emplace({&plan, input, constant.data(), constant.bytes()});
  if (!added) return found->second;
  sources_.push_back(constant);
  if (where_ == nullptr) {
    std::byte* const packed = allocate(layout.bytes);
    plan.pack_input(input, constant.data(), packed);
    return found->second = packed;
  }
  const detail::MemoryBlock packed(layout.bytes + 1);
  plan.pack_input(input, constant.data(), packed.data());
  return found->second = keep(packed.data(), layout.bytes);
}

const void* PackedConstants::row_major(const Tensor& constant) {
  const auto [found, added] = packed_.try_emplace({nullptr, 0, constant.data(), constant.bytes()});
  if (!added) return found->second;
  sources_.push_back(constant);
  return found->second = keep(constant.data(), constant.bytes());
}

const std::byte* PackedConstants::keep(const void* data, std::size_t bytes) {
  std::byte* const to = allocate(bytes);
  if (where_ != nullptr) where_->upload(to, data, bytes);
  else std::memcpy(to, data, bytes);
  return to;
}

std::byte* PackedConstants::allocate(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{32} << 20, page = detail::MemoryBlock::alignment;
  const std::size_t size = (bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment;
  if (blocks_.empty() || used_ + size > blocks_.back().size()) {
    blocks_.emplace_back(std::max(least, (size + page - 1) / page * page), where_);
    used_ = 0;
  }
  std::byte* const result = blocks_.back().data() + used_;
  used_ += size;
  bytes_ += size;
  return result;
}

}  // namespace benanza::execution
