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

struct Measurement {
  std::string backend{};
  std::string algorithm{};  ///< `name[,key=value]...,threads=N`
  bool has_plan = true;     ///< false: the row says why its backend has no plan for the layer; its algorithm is `none`
  CacheState cache = CacheState::hot;
  std::string signature{};  ///< canonical text of the layer's signature

  int threads = 1;
  std::int64_t samples = 0;               ///< visits that count
  std::int64_t calls_per_sample = 1;      ///< N: fixed so that a window is at least 100 timer floors
  Seconds min{}, p10{}, median{}, p90{};  ///< one call, over samples
  double cv = 0;                          ///< coefficient of variation over samples
  Seconds preparation{};                  ///< creating the plan and packing its constants; never part of a time
  std::int64_t workspace_bytes = 0;
  bool saves_multiplications = false;  ///< Winograd, FFT
  bool advised = false;                ///< the library's own first choice: what its heuristic chooses
  bool contended = false;              ///< no sample passed the sentinel
  Seconds at_least{}, at_most{};       ///< if contended: the interval of its p10 on an idle machine; 0: not known
  bool noisy = false;                  ///< still uncertain when the budget ended
  double difference = 0;               ///< from the reference, relative
  std::string method{};                ///< on a device: events or graph, whichever measured less; empty: a clock
  Seconds launch{};                    ///< part of the times: as many empty kernels in a chain; not part of a bound
  Seconds other{},
      other_launch{};       ///< the median by the other of these methods, and the launches in it; 0: there is none
  double disagreement = 0;  ///< difference of the two methods' medians, relative to the lower one
  Seconds kernels{};        ///< kernels of one call by the device's own records, as a check; 0: not known
  Seconds empty_kernels{};  ///< part of `kernels`: what the same number of empty kernels takes by these records
  std::vector<KernelLaunch> kernel_launches{};  ///< launches of one call, in order; empty: not requested, or not known
  double clock_hz = 0;                          ///< the device's processor clock while it was measured; 0: not known
  bool throttled = false;                       ///< this clock was more than `throttling` below the session's highest
  std::vector<double> rounds_s{};  ///< estimate phase: one time per round, aligned over all rows of a run; NaN
                                   ///< if contended; empty for a plan that was not chosen
  std::vector<double> visits_s{};  ///< chosen plans: the median of each visit in selection after the first
                                   ///< one; NaN if contended. The visits are spread over the run.
  double wander = 0;               ///< chosen plans: half the range of the processor's speed over the
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
  return std::max(Seconds{}, time - row.launch);
}

/// Two times of a row, without launches, are the same if they differ by at most this share, or by at most half of the
/// time that the launches take in a graph: part of a launch may overlap the work before it (docs/measuring.md).
inline constexpr double methods_agree = 0.05;
[[nodiscard]] inline bool is_same_time(const Measurement& row, Seconds a, Seconds b) {
  const Seconds launch = row.other_launch.value > 0 ? std::min(row.launch, row.other_launch) : row.launch;
  return std::max(a, b) - std::min(a, b) <= std::max(std::min(a, b) * methods_agree, launch * 0.5);
}
/// The time of a row's kernels by the device's own records, less what empty kernels take by these records; times
/// without launches do not contain that either.
[[nodiscard]] inline Seconds recorded_work(const Measurement& row) {
  return std::max(Seconds{}, row.kernels - row.empty_kernels);
}
/// Whether this differs from the time without launches.
[[nodiscard]] inline bool activity_disagrees(const Measurement& row) {
  return row.measured() && row.kernels.value > 0 &&
         !is_same_time(row, without_launch(row, row.p10), recorded_work(row));
}
/// The median by the other method, without launches.
[[nodiscard]] inline Seconds other_without_launch(const Measurement& row) {
  return std::max(Seconds{}, row.other - row.other_launch);
}
/// Whether events and graph give different times.
[[nodiscard]] inline bool methods_disagree(const Measurement& row) {
  return row.measured() && row.other.value > 0 &&
         !is_same_time(row, without_launch(row, row.median), other_without_launch(row));
}
/// Times of one call by each method that gave one, without launches: events or graph, the other of the two, the
/// device's own records. At most one if there is only a clock.
[[nodiscard]] inline std::vector<Seconds> times_by_methods(const Measurement& row) {
  std::vector<Seconds> times;
  if (!row.measured()) return times;
  times.push_back(without_launch(row, row.median));
  if (row.other.value > 0) times.push_back(other_without_launch(row));
  if (row.kernels.value > 0) times.push_back(recorded_work(row));
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
