// SPDX-License-Identifier: Apache-2.0
// Efficiency: how much faster several workers are than one, and from which bandwidth on. Each worker has its own batch,
// so that n workers do n times the work of one (weak scaling).
#pragma once

#include <benanza/error.hpp>
#include <benanza/scale/detail/iteration_timeline.hpp>
#include <benanza/scale/detail/measured_network.hpp>
#include <benanza/scale/network.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace benanza {

/// The iteration on `workers` workers whose all-reduces take the measured times. `time` selects one of these times.
/// Throws UsageError if the time of a bucket is not known.
[[nodiscard]] inline IterationTimeline make_iteration_timeline(const Iteration& iteration, std::int64_t workers,
                                                               const MeasuredNetwork& network,
                                                               const ExchangeOptions& options,
                                                               Seconds MeasuredTime::*time = &MeasuredTime::expected) {
  return make_iteration_timeline(iteration, make_buckets(iteration, options.bucket), options, [&](Bytes bytes) {
    const auto known = network.time(workers, bytes);
    if (!known) throw UsageError("no measured all-reduce tells what one of a bucket takes");
    return (*known).*time;
  });
}

/// The iteration on `workers` workers that are joined by an analytic network.
[[nodiscard]] inline IterationTimeline make_iteration_timeline(const Iteration& iteration, std::int64_t workers,
                                                               const Network& network, const ExchangeOptions& options) {
  if (workers < 2) return make_iteration_timeline(iteration, {}, options, [](Bytes) { return Seconds{}; });
  return make_iteration_timeline(iteration, make_buckets(iteration, options.bucket), options, [&](Bytes bytes) {
    return collective_time(op::CollectiveKind::all_reduce, bytes, workers, network);
  });
}

/// Throughput relative to one worker: n T1 / Tn.
[[nodiscard]] inline double speed_up(const Iteration& iteration, std::int64_t workers, Seconds length) {
  return length.value > 0 ? static_cast<double>(workers) * (iteration.time() / length) : 0;
}
/// T1 / Tn.
[[nodiscard]] inline double efficiency(const Iteration& iteration, Seconds length) {
  return length.value > 0 ? iteration.time() / length : 0;
}
/// The efficiency above which n workers are faster than one.
[[nodiscard]] constexpr double break_even(std::int64_t workers) { return 1 / static_cast<double>(workers); }

/// The least bandwidth for an efficiency if nothing overlaps and all gradients are in one bucket:
///   Tn = T1 + overhead + messages x latency + transfers x S / B   (collective_cost),
/// so B = transfers x S / (T1 (1 / efficiency - 1) - overhead - messages x latency). For the break-even of a ring
/// without latency and overhead that is 2 S / (n T1). Nothing if latency and overhead alone are too much.
[[nodiscard]] inline std::optional<BytesPerSecond> least_bandwidth_without_overlap(const Iteration& iteration,
                                                                                   std::int64_t workers, double wanted,
                                                                                   const Network& network,
                                                                                   Seconds overhead = {}) {
  const CollectiveCost cost = collective_cost(op::CollectiveKind::all_reduce, network.algorithm, workers);
  const Seconds left = iteration.time() * (1 / wanted - 1) - overhead - cost.messages * network.latency;
  const double bytes = cost.transfers * iteration.gradient_bytes().value;
  if (bytes == 0) return BytesPerSecond{0};
  if (left.value <= 0) return std::nullopt;
  return BytesPerSecond{bytes / left.value};
}

/// The least bandwidth at which the timeline reaches an efficiency, by bisection to a relative 1e-6. In fifo order
/// every higher bandwidth reaches it too. Nothing if latency and overhead alone are too much. `network.bandwidth` is
/// ignored.
[[nodiscard]] inline std::optional<BytesPerSecond> least_bandwidth(const Iteration& iteration, std::int64_t workers,
                                                                   double wanted, Network network,
                                                                   const ExchangeOptions& options) {
  if (workers < 2 || iteration.gradient_bytes().value == 0) return BytesPerSecond{0};
  const auto reaches = [&](double bandwidth) {
    network.bandwidth = {bandwidth};
    return efficiency(iteration, make_iteration_timeline(iteration, workers, network, options).length) >= wanted;
  };
  double low = 1, high = 1e18;  // bytes per second
  if (!reaches(high)) return std::nullopt;
  if (reaches(low)) return BytesPerSecond{low};
  while (high / low > 1 + 1e-6) {
    const double middle = low * std::sqrt(high / low);
    (reaches(middle) ? high : low) = middle;
  }
  return BytesPerSecond{high};
}

}  // namespace benanza
