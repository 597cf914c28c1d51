// SPDX-License-Identifier: Apache-2.0
#include <benanza/plan/backend.hpp>

#include <cstring>

namespace benanza {

void Plan::do_pack_input(std::size_t i, const void* plain, void* packed) const {
  std::memcpy(packed, plain, inputs_.at(i).bytes);
}
void Plan::do_unpack_output(std::size_t i, const void* packed, void* plain) const {
  std::memcpy(plain, packed, outputs_.at(i).bytes);
}
std::optional<std::int64_t> Plan::do_output_position(std::size_t i, std::int64_t index) const {
  return outputs_.at(i).name == "plain" ? std::optional(index) : std::nullopt;
}

std::vector<Layout> plain_layouts(std::span<const Operand> operands) {
  std::vector<Layout> result;
  for (const auto& operand : operands) result.push_back({.bytes = static_cast<std::size_t>(operand.bytes())});
  return result;
}

}  // namespace benanza
