// SPDX-License-Identifier: Apache-2.0
// Measurement: one timed row: a layer with one algorithm of one backend, in one cache state.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/results/detail/row_status.hpp>
#include <benanza/results/kernel_launch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

/// hot: the same buffers in each call; cold_weights: weights come from memory, activations from where the previous
/// layer left them; cold: everything comes from memory (docs/measuring.md, "Cache states").
enum class CacheState : std::uint8_t { hot, cold_weights, cold };
inline constexpr std::array cache_states{CacheState::hot, CacheState::cold_weights, CacheState::cold};
[[nodiscard]] constexpr std::array<std::string_view, 3> enum_names(CacheState) {
  return {"hot", "cold-weights", "cold"};
}

/// Times of one call, over samples.
struct MeasuredTimes {
  Seconds min{}, p10{}, median{}, p90{};
  std::optional<double> cv{};  ///< coefficient of variation; empty: the file does not say
  bool operator==(const MeasuredTimes&) const = default;
};

/// The median by the other of a device's two methods, events and graph.
struct OtherMethod {
  Seconds time{}, launch{};  ///< the launches in it
};

/// How a device timed a row.
struct DeviceTiming {
  std::string method{};                  ///< events or graph, whichever measured less
  Seconds launch{};                      ///< part of the times: as many empty kernels in a chain; not part of a bound
  std::optional<OtherMethod> other{};    ///< empty: only one of the methods gave a time
  std::optional<double> disagreement{};  ///< difference of the two methods' medians, relative to the lower one
  std::optional<KernelTime> kernels{};   ///< the kernels of one call by the device's own records, as a check
  std::optional<double> clock_hz{};      ///< the device's processor clock while it was measured
  bool throttled = false;                ///< this clock was more than `throttling` below the session's highest
};

/// What is not known of a row is empty. In a series of samples, NaN stands for a sample that does not count, so that
/// the series of all rows of a run remain aligned.
struct Measurement {
  std::string backend{};
  std::string algorithm{};  ///< `name[,key=value]...,threads=N`
  bool has_plan = true;     ///< false: the row says why its backend has no plan for the layer; its algorithm is `none`
  CacheState cache = CacheState::hot;
  std::string signature{};  ///< canonical text of the layer's signature

  int threads = 1;
  std::int64_t samples = 0;              ///< visits that count
  std::int64_t calls_per_sample = 1;     ///< N: fixed so that a window is at least 100 timer floors
  std::optional<MeasuredTimes> times{};  ///< of every measured row; those of an excluded one do not count
  std::optional<Seconds> preparation{};  ///< creating the plan and packing its constants; never part of a time
  std::int64_t workspace_bytes = 0;
  bool saves_multiplications = false;            ///< Winograd, FFT
  bool advised = false;                          ///< the library's own first choice: what its heuristic chooses
  bool contended = false;                        ///< no sample passed the sentinel
  std::optional<Seconds> at_least{}, at_most{};  ///< if contended: the interval of its p10 on an idle machine
  bool noisy = false;                            ///< still uncertain when the budget ended
  std::optional<double> difference{};            ///< from the reference, relative
  std::optional<DeviceTiming> device{};          ///< empty: a clock timed it
  std::vector<KernelLaunch> kernel_launches{};   ///< launches of one call, in order; empty: not requested, or not known
  std::vector<double> rounds_s{};  ///< estimate phase: one time per round, aligned over all rows of a run; NaN
                                   ///< if contended; empty for a plan that was not chosen
  std::vector<double> visits_s{};  ///< chosen plans: the median of each visit in selection after the first
                                   ///< one; NaN if contended. The visits are spread over the run.
  std::optional<double> wander{};  ///< chosen plans: half the range of the processor's speed over the
                                   ///< session, relative, from the sentinel's reading in each second
  RowStatus status = RowStatus::measured;
  std::string reason{};  ///< why none of its times count, as `reason_text` makes it; empty for a measured row

  std::string name() const {
    return backend + "/" + algorithm + "/" + std::string(enum_names(cache)[static_cast<std::size_t>(cache)]) + "/" +
           signature;
  }
  /// Whether its times count.
  [[nodiscard]] bool measured() const { return status == RowStatus::measured; }
  /// Excludes its times for this reason.
  void exclude(RowStatus new_status, std::string_view why = {}) {
    status = new_status;
    reason = reason_text(new_status, why, has_plan);
  }
  /// The same with a reason as `reason_text` makes it, whose first words state the status.
  void exclude_for(std::string text) {
    status = status_of_reason(text, has_plan);
    reason = std::move(text);
  }
};

/// The part of a time of this row that a bound counts: without its chain of empty kernels, since an engine may launch
/// differently. The same time if there are no launches.
[[nodiscard]] inline Seconds without_launch(const Measurement& row, Seconds time) {
  return row.device ? std::max(Seconds{}, time - row.device->launch) : time;
}

/// Two times of a row, without launches, are the same if they differ by at most this share, or by at most half of the
/// time that the launches take in a graph: part of a launch may overlap the work before it (docs/measuring.md).
inline constexpr double methods_agree = 0.05;
[[nodiscard]] inline bool is_same_time(const Measurement& row, Seconds a, Seconds b) {
  Seconds launch = row.device ? row.device->launch : Seconds{};
  if (row.device && row.device->other && row.device->other->launch.value > 0)
    launch = std::min(launch, row.device->other->launch);
  return std::max(a, b) - std::min(a, b) <= std::max(std::min(a, b) * methods_agree, launch * 0.5);
}
/// The time of a row's kernels by the device's own records, less the time of empty kernels by the same records, as
/// `without_launch` subtracts it. Empty if the device recorded no kernels.
[[nodiscard]] inline std::optional<Seconds> recorded_work(const Measurement& row) {
  if (!row.device || !row.device->kernels) return std::nullopt;
  return std::max(Seconds{}, row.device->kernels->whole - row.device->kernels->empty);
}
/// Whether this differs from the time without launches.
[[nodiscard]] inline bool activity_disagrees(const Measurement& row) {
  const auto work = recorded_work(row);
  return row.measured() && row.times && work && !is_same_time(row, without_launch(row, row.times->p10), *work);
}
/// The median by the other method, without launches; empty if there is none.
[[nodiscard]] inline std::optional<Seconds> other_without_launch(const Measurement& row) {
  if (!row.device || !row.device->other) return std::nullopt;
  return std::max(Seconds{}, row.device->other->time - row.device->other->launch);
}
/// Whether events and graph give different times.
[[nodiscard]] inline bool methods_disagree(const Measurement& row) {
  const auto other = other_without_launch(row);
  return row.measured() && row.times && other && !is_same_time(row, without_launch(row, row.times->median), *other);
}
/// Times of one call by each method that gave one, without launches: events or graph, the other of the two, the
/// device's own records. At most one if there is only a clock.
[[nodiscard]] inline std::vector<Seconds> times_by_methods(const Measurement& row) {
  std::vector<Seconds> times;
  if (!row.measured() || !row.times) return times;
  times.push_back(without_launch(row, row.times->median));
  if (const auto other = other_without_launch(row)) times.push_back(*other);
  if (const auto work = recorded_work(row)) times.push_back(*work);
  return times;
}
/// Whether several methods timed the row and no two of them agree, so that its time is not known.
[[nodiscard]] inline bool no_method_agrees(const Measurement& row) {
  const std::vector<Seconds> times = times_by_methods(row);
  for (auto a = times.begin(); a != times.end(); ++a)
    for (auto b = a + 1; b != times.end(); ++b)
      if (is_same_time(row, *a, *b)) return false;
  return times.size() > 1;
}

/// A row is marked if its clock is this much lower than the session's highest.
inline constexpr double throttling = 0.02;

}  // namespace benanza
