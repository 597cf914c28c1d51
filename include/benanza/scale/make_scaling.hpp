// SPDX-License-Identifier: Apache-2.0
// make_scaling: everything that is asked of an iteration on 2..N workers.
#pragma once

#include <benanza/scale/scaling.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

struct ScalingOptions {
  std::int64_t workers = 2;                  ///< N: the most
  std::vector<BytesPerSecond> bandwidths{};  ///< not empty, rising
  Seconds latency{};
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  ExchangeOptions exchange{};
  double efficiency = 0.9;  ///< that is wanted

  [[nodiscard]] Network network(BytesPerSecond bandwidth) const {
    return {.bandwidth = bandwidth, .latency = latency, .algorithm = algorithm};
  }
};

/// So many workers at one bandwidth.
struct ScalingPoint {
  std::int64_t workers = 2;
  BytesPerSecond bandwidth{};
  Seconds length{};         ///< of an iteration: Tn
  Seconds communication{};  ///< of it, in which the network is used
  Seconds exposed{};        ///< of it, in which computation waits for the network
  double speed_up = 0, efficiency = 0;
};

/// Least bandwidths of so many workers: on the timeline, and without overlap; nothing where none is enough.
struct LeastBandwidths {
  std::int64_t workers = 2;
  std::optional<BytesPerSecond> break_even{}, break_even_without_overlap{};
  std::optional<BytesPerSecond> wanted{}, wanted_without_overlap{};  ///< for `ScalingOptions::efficiency`
};

/// A gradient's part in the exchange.
struct ExposedGradient {
  std::string name{};
  Bytes bytes{};
  Seconds exposed{};  ///< of its bucket's, its share by bytes
};

/// N workers at one bandwidth, in detail.
struct ScalingDetail {
  BytesPerSecond bandwidth{};
  Timeline timeline{};
  std::vector<ExposedGradient> exposed{};  ///< the longest first
};

struct CurvePoint {
  BytesPerSecond bandwidth{};
  double efficiency = 0;
};
/// Efficiency over bandwidth.
struct ScalingCurve {
  std::int64_t workers = 2;
  std::vector<CurvePoint> points{};
};

struct Scaling {
  ScalingOptions options{};
  Iteration iteration{};
  std::vector<Bucket> buckets{};
  std::vector<ScalingPoint> points{};       ///< by bandwidth, then by workers: 2..N
  std::vector<LeastBandwidths> least{};     ///< 2..N
  std::vector<ScalingDetail> details{};     ///< of N workers, by bandwidth
  std::vector<ScalingPoint> other_order{};  ///< of N workers in the other order, by bandwidth
  std::vector<ScalingCurve> curves{};
};

namespace detail {

[[nodiscard]] inline ScalingPoint scaling_point(const Iteration& iteration, std::int64_t workers,
                                                BytesPerSecond bandwidth, const Timeline& timeline) {
  return {.workers = workers,
          .bandwidth = bandwidth,
          .length = timeline.length,
          .communication = timeline.communication(),
          .exposed = timeline.exposed,
          .speed_up = speed_up(iteration, workers, timeline.length),
          .efficiency = efficiency(iteration, timeline.length)};
}

[[nodiscard]] inline std::vector<ExposedGradient> exposed_gradients(const Iteration& iteration,
                                                                    const Timeline& timeline) {
  std::vector<ExposedGradient> result;
  for (const auto& sent : timeline.sent)
    for (std::size_t i = sent.bucket.first; i <= sent.bucket.last; ++i) {
      const GradientReady& gradient = iteration.gradients[i];
      const double share = sent.bucket.bytes.value > 0 ? gradient.bytes / sent.bucket.bytes : 0;
      result.push_back({.name = gradient.name, .bytes = gradient.bytes, .exposed = sent.exposed * share});
    }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.exposed > b.exposed; });
  return result;
}

/// At most four, N among them.
[[nodiscard]] inline std::vector<std::int64_t> drawn_workers(std::int64_t most) {
  std::vector<std::int64_t> result;
  for (std::int64_t n = most; n >= 2 && result.size() < 4; n = most > 8 ? n / 4 : n / 2)
    result.insert(result.begin(), n);
  return result;
}

}  // namespace detail

/// The numbers of workers that are looked at: 2..N, of more than 16 the powers of two and N.
[[nodiscard]] inline std::vector<std::int64_t> worker_counts(std::int64_t most) {
  std::vector<std::int64_t> result;
  for (std::int64_t n = 2; n<most; n = most> 16 ? n * 2 : n + 1) result.push_back(n);
  if (most >= 2) result.push_back(most);
  return result;
}

[[nodiscard]] inline Scaling make_scaling(Iteration iteration, ScalingOptions options) {
  using namespace detail;
  Scaling result{.options = std::move(options), .iteration = std::move(iteration)};
  const Iteration& at = result.iteration;
  const ScalingOptions& given = result.options;
  result.buckets = make_buckets(at, given.exchange.bucket);
  ExchangeOptions other = given.exchange;
  other.order = other.order == SendOrder::fifo ? SendOrder::priority : SendOrder::fifo;
  for (const auto bandwidth : given.bandwidths) {
    const Network network = given.network(bandwidth);
    for (const auto workers : worker_counts(given.workers))
      result.points.push_back(
          scaling_point(at, workers, bandwidth, make_timeline(at, workers, network, given.exchange)));
    Timeline timeline = make_timeline(at, given.workers, network, given.exchange);
    auto exposed = exposed_gradients(at, timeline);
    result.details.push_back({.bandwidth = bandwidth, .timeline = std::move(timeline), .exposed = std::move(exposed)});
    result.other_order.push_back(
        scaling_point(at, given.workers, bandwidth, make_timeline(at, given.workers, network, other)));
  }
  for (const auto workers : worker_counts(given.workers)) {
    const Network network = given.network({});
    result.least.push_back(
        {.workers = workers,
         .break_even = least_bandwidth(at, workers, break_even(workers), network, given.exchange),
         .break_even_without_overlap = least_bandwidth_without_overlap(at, workers, break_even(workers), network),
         .wanted = least_bandwidth(at, workers, given.efficiency, network, given.exchange),
         .wanted_without_overlap = least_bandwidth_without_overlap(at, workers, given.efficiency, network)});
  }
  constexpr int curve_points = 60;
  const double unit = at.gradient_bytes().value / std::max(at.time().value, 1e-12);  // S / T1
  for (const auto workers : drawn_workers(given.workers)) {
    ScalingCurve curve{.workers = workers};
    for (int i = 0; i <= curve_points && unit > 0; ++i) {
      const BytesPerSecond bandwidth{unit * std::pow(10.0, -1.5 + 4.0 * i / curve_points)};
      const Seconds length = make_timeline(at, workers, given.network(bandwidth), given.exchange).length;
      curve.points.push_back({.bandwidth = bandwidth, .efficiency = efficiency(at, length)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace benanza
