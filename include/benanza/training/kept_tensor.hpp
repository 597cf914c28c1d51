// SPDX-License-Identifier: Apache-2.0
// KeptTensor: memory that is kept from forward to backward, according to one of two policies.
#pragma once

#include <benanza/model/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza {

enum class Saved : std::uint8_t {
  least,  ///< what backward reads: no schedule without recomputation keeps less
  eager   ///< what PyTorch's autograd saves in eager mode
};
[[nodiscard]] constexpr std::array<std::string_view, 2> enum_names(Saved) { return {"least", "eager"}; }

/// Memory that is kept from forward to backward.
struct KeptTensor {
  std::optional<ValueId> storage{};  ///< the value whose memory it is; empty: not that of a value of the graph
  std::string name{};                ///< name of that value
  std::string node{};                ///< the node that computed it; empty: an input of the model
  std::string reader{};              ///< the first node whose gradient reads it
  std::size_t last = 0;              ///< the last node that reads it: index into the graph's nodes
  double bytes = 0;
};

}  // namespace benanza
