// SPDX-License-Identifier: Apache-2.0
#include "equal_tensors.hpp"

#include <algorithm>

namespace benanza::importer {

std::optional<std::size_t> EqualTensors::find_or_add(std::size_t number, const std::string& type_and_dims,
                                                     std::string_view bytes) {
  constexpr std::size_t sampled = 32;  // at each end
  if (bytes.size() < least_bytes) return std::nullopt;
  const std::string samples = std::string(bytes.substr(0, sampled)).append(bytes.substr(bytes.size() - sampled));
  constexpr std::size_t widest = 8;  // bytes of a number
  if (std::equal(samples.begin() + widest, samples.end(), samples.begin())) return std::nullopt;
  constexpr std::size_t most_compared = 4;
  auto& alike = known_[type_and_dims + samples];
  for (const Tensor& tensor : alike)
    if (tensor.bytes == bytes) return tensor.number;
  if (alike.size() < most_compared) alike.push_back({number, bytes});
  return std::nullopt;
}

}  // namespace benanza::importer
