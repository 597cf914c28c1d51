// SPDX-License-Identifier: Apache-2.0
#include "filled_regions.hpp"

#include "plan/fill.hpp"

namespace benanza::sampling {

namespace {

constexpr std::uint64_t seed = 2020;

/// Places operands in their regions. `region`: returns where a region of at least so many bytes begins.
template <class RegionAt>
std::vector<const void*> placed(const std::vector<Operand>& operands, std::span<const std::size_t> bytes,
                                bool on_device, RegionAt region) {
  std::map<Region, Placement> placements;
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < operands.size(); ++i)
    offsets.push_back(placements.try_emplace(region_of(operands[i]), on_device).first->second.add(bytes[i], i));
  std::vector<const void*> result;
  for (std::size_t i = 0; i < operands.size(); ++i)
    result.push_back(region(operands[i], placements.at(region_of(operands[i])).size()) + offsets[i]);
  return result;
}

}  // namespace

std::byte* FilledRegions::filled(const Operand& operand, std::size_t bytes) {
  auto& block = filled_[region_of(operand)];
  if (const std::size_t before = block.size(); before < bytes) {
    constexpr std::size_t line = 64;  // whole elements of every type
    block.grow((bytes + bytes / 8 + line - 1) / line * line);
    Operand rest = operand;
    rest.shape = {static_cast<std::int64_t>(block.size() - before) * 8 / bits(operand.type)};
    rest.touched.reset();
    fill(rest, block.data() + before, seed + before);
  }
  return block.data();
}

std::byte* FilledRegions::for_calls(const Operand& operand, std::size_t bytes) {
  std::byte* const here = filled(operand, bytes);
  if (memory_ == nullptr) return here;
  const Region key = region_of(operand);
  const std::size_t size = filled_.at(key).size();
  auto& block = on_device_[key];
  if (block.size() < size) {
    block = detail::MemoryBlock();
    block = detail::MemoryBlock(size, memory_);
    memory_->upload(block.data(), here, size);
  }
  return block.data();
}

std::vector<const void*> FilledRegions::for_calls(const std::vector<Operand>& operands,
                                                  std::span<const std::size_t> bytes) {
  return placed(operands, bytes, memory_ != nullptr,
                [this](const Operand& operand, std::size_t size) { return for_calls(operand, size); });
}

std::vector<const void*> FilledRegions::plain(const std::vector<Operand>& operands) {
  std::vector<std::size_t> bytes;
  for (const auto& operand : operands) bytes.push_back(static_cast<std::size_t>(operand.bytes()));
  return placed(operands, bytes, memory_ != nullptr,
                [this](const Operand& operand, std::size_t size) { return filled(operand, size); });
}

}  // namespace benanza::sampling
