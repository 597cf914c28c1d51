// SPDX-License-Identifier: Apache-2.0
// What make_scaling computes.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/scale/efficiency.hpp>
#include <benanza/scale/make_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

[[nodiscard]] inline ScalingPoint scaling_point(const Iteration& iteration, std::int64_t workers,
                                                BytesPerSecond bandwidth, const IterationTimeline& timeline) {
  return {.workers = workers,
          .bandwidth = bandwidth,
          .length = timeline.length,
          .communication = timeline.communication(),
          .exposed = timeline.exposed,
          .speed_up = speed_up(iteration, workers, timeline.length),
          .efficiency = efficiency(iteration, timeline.length)};
}

/// One end of all intervals: the speed-up from more workers is smallest for a short iteration, a large overhead and a
/// small share of the bandwidth, and largest for the opposite.
struct Assumed {
  Iteration iteration{};
  ExchangeOptions exchange{};
  double reached = 1;
};
[[nodiscard]] inline Assumed assumed(const Iteration& iteration, const ScalingOptions& options, bool pays_most) {
  Assumed result{.exchange = options.exchange, .reached = pays_most ? options.reached_most : options.reached_least};
  const double sign = pays_most ? 1 : -1;
  result.iteration = scaled_to(iteration, iteration.time() * (1 + sign * iteration.uncertainty));
  result.exchange.overhead = options.exchange.overhead * (1 - sign * options.overhead_uncertainty);
  return result;
}
[[nodiscard]] inline bool uncertain(const Iteration& iteration, const ScalingOptions& options) {
  return iteration.uncertainty > 0 || options.overhead_uncertainty > 0 || options.reached_least < options.reached_most;
}

/// The least and the largest bandwidth that an efficiency may need.
[[nodiscard]] inline std::optional<Interval<BytesPerSecond>> least_interval(const Iteration& iteration,
                                                                            std::int64_t workers, double wanted,
                                                                            const ScalingOptions& options) {
  if (!uncertain(iteration, options)) return std::nullopt;
  const auto end = [&](bool pays_most) -> std::optional<BytesPerSecond> {
    const Assumed at = assumed(iteration, options, pays_most);
    const auto used = least_bandwidth(at.iteration, workers, wanted, options.network({}), at.exchange);
    return used ? std::optional(*used / at.reached) : std::nullopt;
  };
  const auto least = end(true), most = end(false);
  if (!least || !most) return std::nullopt;
  return Interval<BytesPerSecond>{*least, *most};
}

/// The bandwidth of the network, if exchanges use `used` of it.
[[nodiscard]] inline std::optional<BytesPerSecond> at_the_line(const std::optional<BytesPerSecond>& used,
                                                               const ScalingOptions& options) {
  return used ? std::optional(*used / options.reached()) : std::nullopt;
}

/// The bandwidth with which an analytic network without latency exchanges the buckets in that time.
[[nodiscard]] inline BytesPerSecond equivalent_bandwidth(const Iteration& iteration, std::int64_t workers,
                                                         CollectiveAlgorithm algorithm, Seconds communication) {
  const double transfers = collective_cost(op::CollectiveKind::all_reduce, algorithm, workers).transfers;
  return communication.value > 0 ? BytesPerSecond{transfers * iteration.gradient_bytes().value / communication.value}
                                 : BytesPerSecond{};
}

[[nodiscard]] inline std::vector<ExposedGradient> exposed_gradients(const Iteration& iteration,
                                                                    const IterationTimeline& timeline) {
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

/// At most four numbers of workers, including N.
[[nodiscard]] inline std::vector<std::int64_t> drawn_workers(std::int64_t most) {
  std::vector<std::int64_t> result;
  for (std::int64_t n = most; n >= 2 && result.size() < 4; n = most > 8 ? n / 4 : n / 2)
    result.insert(result.begin(), n);
  return result;
}

}  // namespace detail

BENANZA_INLINE std::vector<std::int64_t> worker_counts(std::int64_t most) {
  std::vector<std::int64_t> result;
  for (std::int64_t n = 2; n<most; n = most> 16 ? n * 2 : n + 1) result.push_back(n);
  if (most >= 2) result.push_back(most);
  return result;
}

namespace detail {

/// Whether the times of all buckets are known.
[[nodiscard]] inline bool is_measured(const Scaling& scaling, std::int64_t workers) {
  return std::all_of(scaling.buckets.begin(), scaling.buckets.end(), [&](const Bucket& bucket) {
    return scaling.options.measured->time(workers, bucket.bytes).has_value();
  });
}

/// Adds one column, for the measured network. `point` builds a point from the iteration, the workers and which time
/// counts.
inline void add_measured(Scaling& result, const ExchangeOptions& other) {
  const Iteration& at = result.iteration;
  const MeasuredNetwork& network = *result.options.measured;
  const ExchangeOptions& exchange = result.options.exchange;
  for (const auto workers : worker_counts(result.options.workers)) {
    if (!is_measured(result, workers)) continue;
    IterationTimeline timeline = make_iteration_timeline(at, workers, network, exchange);
    const BytesPerSecond like = equivalent_bandwidth(at, workers, result.options.algorithm, timeline.communication());
    ScalingPoint point = scaling_point(at, workers, like, timeline);
    const auto end = [&](bool pays_most) {
      const Assumed one = assumed(at, result.options, pays_most);
      const auto time = pays_most ? &MeasuredTime::least : &MeasuredTime::most;
      return speed_up(one.iteration, workers,
                      make_iteration_timeline(one.iteration, workers, network, one.exchange, time).length);
    };
    point.speed_up_interval = {end(false), end(true)};
    result.points.push_back(point);
    if (workers != result.options.workers) continue;
    result.other_order.push_back(
        scaling_point(at, workers, like, make_iteration_timeline(at, workers, network, other)));
    auto exposed = exposed_gradients(at, timeline);
    result.details.push_back({.bandwidth = like, .timeline = std::move(timeline), .exposed = std::move(exposed)});
  }
}

inline void add_analytic(Scaling& result, const ExchangeOptions& other) {
  const Iteration& at = result.iteration;
  const ScalingOptions& given = result.options;
  for (const auto bandwidth : given.bandwidths) {
    const Network network = given.network(bandwidth);
    for (const auto workers : worker_counts(given.workers)) {
      const auto end = [&](bool pays_most) {
        const Assumed one = assumed(at, given, pays_most);
        Network reaching = network;
        reaching.bandwidth = bandwidth * one.reached;
        return speed_up(one.iteration, workers,
                        make_iteration_timeline(one.iteration, workers, reaching, one.exchange).length);
      };
      ScalingPoint point =
          scaling_point(at, workers, bandwidth, make_iteration_timeline(at, workers, network, given.exchange));
      if (uncertain(at, given)) point.speed_up_interval = {end(false), end(true)};
      result.points.push_back(point);
    }
    IterationTimeline timeline = make_iteration_timeline(at, given.workers, network, given.exchange);
    auto exposed = exposed_gradients(at, timeline);
    result.details.push_back({.bandwidth = bandwidth, .timeline = std::move(timeline), .exposed = std::move(exposed)});
    result.other_order.push_back(
        scaling_point(at, given.workers, bandwidth, make_iteration_timeline(at, given.workers, network, other)));
  }
}

}  // namespace detail

BENANZA_INLINE Scaling make_scaling(Iteration iteration, ScalingOptions options) {
  using namespace detail;
  Scaling result{.options = std::move(options), .iteration = std::move(iteration)};
  const Iteration& at = result.iteration;
  const ScalingOptions& given = result.options;
  result.buckets = make_buckets(at, given.exchange.bucket);
  ExchangeOptions other = given.exchange;
  other.order = other.order == SendOrder::fifo ? SendOrder::priority : SendOrder::fifo;
  if (given.measured && !is_measured(result, given.workers))
    throw UsageError("no measured all-reduce tells what one of a bucket takes");
  if (given.measured) add_measured(result, other);
  else add_analytic(result, other);
  for (const auto workers : worker_counts(given.workers)) {
    const Network network = given.network({});
    const auto without = [&](double wanted) {
      return at_the_line(least_bandwidth_without_overlap(at, workers, wanted, network, given.exchange.overhead), given);
    };
    const auto with = [&](double wanted) {
      return at_the_line(least_bandwidth(at, workers, wanted, network, given.exchange), given);
    };
    result.least.push_back({.workers = workers,
                            .break_even = with(break_even(workers)),
                            .break_even_without_overlap = without(break_even(workers)),
                            .wanted = with(given.efficiency),
                            .wanted_without_overlap = without(given.efficiency),
                            .break_even_interval = least_interval(at, workers, break_even(workers), given),
                            .wanted_interval = least_interval(at, workers, given.efficiency, given)});
  }
  constexpr int curve_points = 60;
  const double unit = at.gradient_bytes().value / std::max(at.time().value, 1e-12);  // S / T1
  for (const auto workers : drawn_workers(given.workers)) {
    ScalingCurve curve{.workers = workers};
    for (int i = 0; i <= curve_points && unit > 0; ++i) {
      const BytesPerSecond bandwidth{unit * std::pow(10.0, -1.5 + 4.0 * i / curve_points)};
      const Seconds length = make_iteration_timeline(at, workers, given.network(bandwidth), given.exchange).length;
      curve.points.push_back({.bandwidth = bandwidth, .efficiency = efficiency(at, length)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace benanza
