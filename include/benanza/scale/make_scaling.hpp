// SPDX-License-Identifier: Apache-2.0
// make_scaling: computes all results for an iteration on 2..N workers.
#pragma once

#include <benanza/scale/efficiency.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza {

struct ScalingOptions {
  std::int64_t workers = 2;                   ///< N: the largest number of workers
  std::vector<BytesPerSecond> bandwidths{};   ///< ascending; not empty without a measured network
  std::optional<MeasuredNetwork> measured{};  ///< replaces bandwidths
  Seconds latency{};
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  ExchangeOptions exchange{};
  double efficiency = 0.9;  ///< the efficiency that is wanted
  /// The share of a bandwidth that exchanges reach, as measured, is between these two.
  double reached_least = 1, reached_most = 1;
  double overhead_uncertainty = 0;  ///< relative, of `exchange.overhead`, like `Iteration::uncertainty`

  [[nodiscard]] double reached() const { return (reached_least + reached_most) / 2; }
  [[nodiscard]] Network network(BytesPerSecond bandwidth) const {
    return {.bandwidth = bandwidth * reached(), .latency = latency, .algorithm = algorithm};
  }
};

/// The least and the most that the measurements allow.
template <class T>
struct Interval {
  T least{}, most{};
};

/// `workers` workers at one bandwidth.
struct ScalingPoint {
  std::int64_t workers = 2;
  BytesPerSecond bandwidth{};  ///< measured network: the bandwidth with which an analytic network takes as long
  Seconds length{};            ///< iteration time: Tn
  Seconds communication{};     ///< the part of it in which the network is used
  Seconds exposed{};           ///< the part of it in which computation waits for the network
  double speed_up = 0, efficiency = 0;
  std::optional<Interval<double>> speed_up_interval{};  ///< if an uncertainty is known
};

/// Least bandwidths for `workers` workers: on the timeline, and without overlap. Nothing if no bandwidth is enough.
struct LeastBandwidths {
  std::int64_t workers = 2;
  std::optional<BytesPerSecond> break_even{}, break_even_without_overlap{};
  std::optional<BytesPerSecond> wanted{}, wanted_without_overlap{};  ///< for `ScalingOptions::efficiency`
  /// If an uncertainty is known: of T1, or of the share of the bandwidth that is reached.
  std::optional<Interval<BytesPerSecond>> break_even_interval{}, wanted_interval{};
};

/// One gradient's part in the exchange.
struct ExposedGradient {
  std::string name{};
  Bytes bytes{};
  Seconds exposed{};  ///< share by bytes of its bucket's exposed time
};

/// N workers at one bandwidth, in detail.
struct ScalingDetail {
  BytesPerSecond bandwidth{};
  IterationTimeline timeline{};
  std::vector<ExposedGradient> exposed{};  ///< the longest time first
};

struct CurvePoint {
  BytesPerSecond bandwidth{};
  double efficiency = 0;
};
/// Efficiency as a function of bandwidth.
struct ScalingCurve {
  std::int64_t workers = 2;
  std::vector<CurvePoint> points{};
};

struct Scaling {
  ScalingOptions options{};
  Iteration iteration{};
  std::vector<Bucket> buckets{};
  std::vector<ScalingPoint> points{};       ///< by bandwidth, then by workers: 2..N, if they were measured
  std::vector<LeastBandwidths> least{};     ///< 2..N
  std::vector<ScalingDetail> details{};     ///< N workers, by bandwidth
  std::vector<ScalingPoint> other_order{};  ///< N workers in the other order, by bandwidth
  std::vector<ScalingCurve> curves{};
};

/// The numbers of workers that are evaluated: 2..N, or if N is above 16 the powers of two and N.
[[nodiscard]] std::vector<std::int64_t> worker_counts(std::int64_t most);

/// With a measured network, `points` have those numbers of workers for which all buckets have a time. N must be among
/// them: otherwise this throws UsageError. Least bandwidths and curves belong to the analytic network in either case.
[[nodiscard]] Scaling make_scaling(Iteration iteration, ScalingOptions options);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/scale/make_scaling_inl.hpp>
#endif
