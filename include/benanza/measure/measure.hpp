// SPDX-License-Identifier: Apache-2.0
// measure: the measuring session. Select: every plan of a layer that the database lacks is checked against the
// reference and timed in visits spread over the run; visits alternate between candidates, and clearly slower ones are
// dropped. Estimate: rounds time every chosen plan once, so that totals are taken per round instead of being summed
// from biased per-row quantiles (docs/measuring.md, "Two phases").
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/plan/kernel_metric.hpp>
#include <benanza/results/machine.hpp>
#include <benanza/results/measurement.hpp>
#include <benanza/results/results.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {
class Backend;
}

namespace benanza::measure {

using Backends = std::span<const std::shared_ptr<const Backend>>;

/// A layer to measure.
struct Wanted {
  Layer layer{};
  double weight = 1;                 ///< occurrences in a model; decides where the budget is spent
  std::vector<Measurement> known{};  ///< rows of the database: such a layer is not selected again, only timed in rounds
};

/// What a progress bar shows.
struct Progress {
  std::string_view phase{};         ///< ceilings, select, rounds
  std::size_t done = 0, total = 0;  ///< layers or rounds of the phase
  Seconds elapsed{}, remaining{};   ///< of the whole session, estimated
  std::string_view what{};          ///< the current layer
};

struct MeasureOptions {
  int threads = 0;  ///< the most threads; 0: one for each physical core of one NUMA node
  std::vector<CacheState> caches{CacheState::hot, CacheState::cold_weights};
  Seconds budget{60};
  std::optional<std::vector<CeilingRow>> ceilings{};  ///< known ones: not measured again, but raised by rows that beat
                                                      ///< them; each session reads round trips anew
  std::function<bool(std::string_view name)> accept{};  ///< the rows to measure, by `Measurement::name()`; empty: all
  std::function<void(const Progress&)> progress{};
  /// Called with the row's name before a plan is tried. Before plans are made, it is called with the name of the row
  /// that would say why there are none. `crashing_plans` crashed in earlier tries and are left out, with their reason
  /// (worker.hpp).
  std::function<void(std::string_view row)> trying{};
  std::map<std::string, std::string> crashing_plans{};
  /// Called every few seconds with the rows so far. If they are written to disk, they survive the end of the process.
  std::function<void(const Run&)> keep{};
  /// Called if `keep` threw an EnvironmentError, with its text; the session continues without keeping rows.
  std::function<void(std::string_view reason)> keep_failed{};
  /// What `keep` received from this session before it was cut short, or rows of layers that are selected once more. If
  /// machine and versions are the same, its reasons, clearly slower plans and ceilings are kept. Other plans are tried
  /// again; if there is no time for that, their times are kept.
  std::shared_ptr<const Run> earlier{};
  /// Whether an accelerator's own records are read at the end (`Device::kernel_time`). Only for the last session of a
  /// process, since the collector stays attached.
  bool activity_check = true;
  /// Metrics for the kernels of each chosen plan, collected in a replay after everything was timed; empty: none.
  std::vector<KernelMetric> metrics{};
  /// Called with each reason, as one line, why kernels or counters that `metrics` asks for are missing. `measure` also
  /// keeps the reasons with its run.
  std::function<void(const std::string& reason)> kernels_missing{};
  std::stop_token stop{};  ///< once a stop is requested, the session ends early and returns what it has
};

/// Whether a layer can be timed in a cache state: a layer without weights has none that could be cold.
[[nodiscard]] inline bool applies(CacheState cache, const Layer& layer) {
  return cache != CacheState::cold_weights || weight_bytes(layer).value > 0;
}

/// Runs a session on this machine, or on the accelerator that the backends' plans run on. Returns rows for every
/// candidate of the layers that were selected (excluded ones with their reason) and for the chosen plans of known
/// layers; chosen rows have rounds. Never throws for a layer that cannot run: its row says why. Throws UsageError for
/// backends of different devices, DeviceLost if the device was lost.
[[nodiscard]] Run measure(std::span<const Wanted> wanted, Backends backends, const MeasureOptions& options);

/// Names of the rows that `measure` would try, with `MeasureOptions::accept` applied. Lists drafts and times none:
/// plans that cannot be built are named too.
[[nodiscard]] std::vector<std::string> candidate_names(std::span<const Wanted> wanted, Backends backends,
                                                       const MeasureOptions& options);

/// Samples system conditions for `time` and reports what makes times doubtful, one line each: a CPU quota, a governor
/// other than performance, busy SMT siblings, steal time, another busy process. `measure` keeps the same with its run.
[[nodiscard]] std::vector<std::string> watch_conditions(Seconds time);

/// The machine that the backends' plans run on.
[[nodiscard]] Machine machine_of(Backends backends);
/// This machine, restricted to `threads` cores (0: all of one NUMA node).
[[nodiscard]] Machine this_machine(int threads = 0);

}  // namespace benanza::measure
