// SPDX-License-Identifier: Apache-2.0
#include "packed_operands.hpp"

#include "placement.hpp"

#include <iterator>
#include <utility>

namespace benanza::sampling {

void PackedOperands::begin_call(const std::string& layer) {
  ++calls_;
  if (layer == std::exchange(layer_, layer)) return;
  for (auto next = entries_.begin(); next != entries_.end();)
    if (const auto entry = next++; !entry->constant) forget(entry);
}

void PackedOperands::pack(const Plan& plan, std::size_t i, const void* plain, std::byte* to) {
  if (memory_ == nullptr) return plan.pack_input(i, plain, to);
  const std::size_t bytes = plan.inputs()[i].bytes;
  std::byte* const here = detail::grown(staging_, bytes + 256, nullptr);
  plan.pack_input(i, plain, here);
  memory_->upload(to, here, bytes);
}

void PackedOperands::forget(std::list<Entry>::iterator entry) {
  kept_ -= entry->block.size();
  index_.erase(entry->key);
  entries_.erase(entry);
}

const void* PackedOperands::packed(const std::string& key, bool constant, const Plan& plan, std::size_t i,
                                   const void* plain) {
  if (const auto found = index_.find(key); found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    found->second->used = calls_;
    return found->second->data;
  }
  const std::size_t bytes = plan.inputs()[i].bytes + place_in_page(i, memory_ != nullptr) + 256;
  // Operands already given to the same call stay, even if that exceeds the limit.
  while (!entries_.empty() && kept_ + bytes > limit_ && entries_.back().used != calls_)
    forget(std::prev(entries_.end()));
  Entry entry{.key = key, .constant = constant, .block = detail::MemoryBlock(bytes, memory_), .used = calls_};
  entry.data = entry.block.data() + place_in_page(i, memory_ != nullptr);
  pack(plan, i, plain, entry.data);
  entries_.push_front(std::move(entry));
  index_[key] = entries_.begin();
  kept_ += bytes;
  return entries_.front().data;
}

}  // namespace benanza::sampling
