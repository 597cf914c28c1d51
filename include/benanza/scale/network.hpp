// SPDX-License-Identifier: Apache-2.0
// Network: the connection between workers, and the time of a collective on it: analytic, from bandwidth and latency.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/op/collective.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace benanza {

/// How a collective sends its messages.
enum class CollectiveAlgorithm : std::uint8_t { ring, tree };
[[nodiscard]] constexpr std::array<std::string_view, 2> enum_names(CollectiveAlgorithm) { return {"ring", "tree"}; }

/// Every worker sends and receives at `bandwidth` at the same time, even if others do so too; `latency` is the latency
/// of one message.
struct Network {
  BytesPerSecond bandwidth{};
  Seconds latency{};
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  bool operator==(const Network&) const = default;
};

/// Bits per second, the unit in which networks are sold.
[[nodiscard]] constexpr BytesPerSecond gigabits(double value) { return {value * 1e9 / 8}; }
[[nodiscard]] constexpr double in_gigabits(BytesPerSecond rate) { return rate.value * 8 / 1e9; }

/// The cost of a collective: `messages` latencies, and `transfers` times the bytes of its whole tensor over the
/// bandwidth.
struct CollectiveCost {
  double messages = 0;
  double transfers = 0;
};

/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH (2005), without the
/// arithmetic. Ring: an all-reduce is a reduce-scatter and an all-gather, each of n - 1 steps that send 1/n of the
/// tensor. Tree: an all-reduce is a reduction to one rank and a broadcast, each of ceil(log2 n) steps that send all of
/// it. If n is a power of two, a reduce-scatter takes as many steps and halves what is sent in each, and an all-gather
/// doubles it. One rank sends nothing.
[[nodiscard]] constexpr CollectiveCost collective_cost(op::CollectiveKind kind, CollectiveAlgorithm algorithm,
                                                       std::int64_t ranks) {
  if (ranks < 2) return {};
  const auto n = static_cast<double>(ranks);
  const double steps = algorithm == CollectiveAlgorithm::ring
                           ? n - 1
                           : static_cast<double>(std::bit_width(static_cast<std::uint64_t>(ranks) - 1));
  if (kind != op::CollectiveKind::all_reduce) return {.messages = steps, .transfers = (n - 1) / n};
  return {.messages = 2 * steps, .transfers = algorithm == CollectiveAlgorithm::ring ? 2 * (n - 1) / n : 2 * steps};
}

/// The time of one call on a tensor of `bytes`.
[[nodiscard]] constexpr Seconds collective_time(op::CollectiveKind kind, Bytes bytes, std::int64_t ranks,
                                                const Network& network) {
  const CollectiveCost cost = collective_cost(kind, network.algorithm, ranks);
  if (ranks < 2) return {};
  return cost.messages * network.latency + cost.transfers * (bytes / network.bandwidth);
}

}  // namespace benanza
