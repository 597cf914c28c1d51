// SPDX-License-Identifier: Apache-2.0
#include "ceilings/ceilings.hpp"
#include "ceilings/peak_kernels.hpp"
#include "plan/cpu_set.hpp"
#include "plan/round_trip.hpp"
#include "product_peaks.hpp"
#include "sampling/conditions.hpp"
#include "sampling/device_host.hpp"
#include "sampling/this_host.hpp"
#include "sampling/thread_counts.hpp"
#include "tuning_session.hpp"
#include <benanza/base/detail/running_clock.hpp>
#include <benanza/error.hpp>
#include <benanza/measure/measure.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/plan/kernel_settings.hpp>
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/round_trips.hpp>
#include <benanza/version.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <set>
#include <thread>

namespace benanza::measure {

namespace {

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

/// A session measures the ceilings when it begins, if they are not known, and when it ends, if it is long enough or its
/// rows contradict them. The first measurement may fall into a slow phase, and a ceiling that is too low makes a floor
/// that is too high.
struct Looks {
  Seconds each{};
  bool at_end = false;

  explicit Looks(Seconds budget) {
    constexpr double share = 0.1;
    constexpr Seconds longest{6}, shortest{0.5}, long_session{20};
    at_end = budget >= long_session;
    each = std::clamp((at_end ? 0.5 : 1) * share * budget, shortest, longest);
  }
};

/// The thread counts for which a ceiling is not known yet.
std::vector<int> unknown_counts(const MeasureOptions& options, std::span<const int> counts) {
  const std::vector<ceilings::MultiplyAdd> types = ceilings::multiply_adds(this_machine().isa);
  std::vector<int> missing;
  for (const int count : counts) {
    const auto is_known = [&](const ceilings::MultiplyAdd& each) {
      const CeilingQuantity quantity = CeilingQuantity::peak(each.type);
      return options.ceilings && std::any_of(options.ceilings->begin(), options.ceilings->end(), [&](const auto& row) {
               return row.threads == count && row.quantity == quantity;
             });
    };
    if (!std::all_of(types.begin(), types.end(), is_known)) missing.push_back(count);
  }
  return missing;
}

/// Ceilings of the thread counts, within `time` from now; `start` is the start of the session.
std::vector<CeilingRow> find_ceilings(const sampling::ThisHost& host, const MeasureOptions& options,
                                      std::span<const int> counts, Seconds time, Seconds start) {
  if (counts.empty()) return {};
  const auto report = [&](std::size_t done, std::size_t total) {
    if (options.progress) {
      options.progress({.phase = "ceilings",
                        .done = done,
                        .total = total,
                        .elapsed = host.running() - start,
                        .remaining = options.budget - (host.running() - start),
                        .what = "peak and bandwidths"});
    }
  };
  return ceilings::measure_ceilings(host.pool(), counts, host.available_memory(), time, options.stop, report);
}

/// The same for a device, by its own kernels. `warnings` receives those that could not be measured.
std::vector<CeilingRow> find_ceilings(Device& device, const sampling::LaunchFloors& floors,
                                      const MeasureOptions& options, std::vector<std::string>& warnings) {
  std::vector<CeilingRow> rows;
  if (!options.ceilings || options.ceilings->empty()) {
    constexpr double share = 0.1;
    constexpr Seconds longest{6}, shortest{0.5};
    auto found = device.ceilings({.budget = std::clamp(share * options.budget, shortest, longest),
                                  .trying = options.trying,
                                  .crashing = options.crashing_plans});
    if (options.trying) options.trying({});
    rows = std::move(found.rows);
    for (const auto& absent : found.absent) warnings.push_back("no ceiling " + absent);
  }
  for (const auto& [what, floor] : {std::pair("floor", floors.event), std::pair("launch", floors.launch),
                                    std::pair("graph-launch", floors.graph_launch)}) {
    if (floor.value > 0)  // without a graph, there is no floor for it
      rows.push_back({.quantity = CeilingQuantity::timer(what),
                      .algorithm = "events,threads=1",
                      .threads = 1,
                      .value = floor.value});
  }
  return rows;
}

/// The device of all backends' plans; null for the processor.
std::shared_ptr<Device> device_of(std::span<const std::shared_ptr<const Backend>> backends) {
  std::shared_ptr<Device> device;
  const Backend* first = nullptr;
  for (const auto& backend : backends) {
    if (std::holds_alternative<Unsupported>(backend->availability())) continue;
    auto next = backend->device();
    if (first != nullptr && next != device)
      throw UsageError("backends " + std::string(first->name()) + " and " + std::string(backend->name()) +
                       " run on different devices: one session measures one");
    first = backend.get();
    device = std::move(next);
  }
  return device;
}

/// The known ceilings, then those that the run measured.
std::vector<CeilingRow> all_ceilings(const Run& run, const MeasureOptions& options) {
  std::vector<CeilingRow> all = options.ceilings.value_or(std::vector<CeilingRow>{});
  all.insert(all.end(), run.ceilings.begin(), run.ceilings.end());
  return all;
}

/// Whether some row exceeds a ceiling by more than it may raise it.
bool contradicts_ceilings(const Run& run, const MeasureOptions& options) {
  CeilingCheck check(all_ceilings(run, options));
  return std::any_of(run.rows.begin(), run.rows.end(),
                     [&](const Measurement& row) { return !check.contradictions(row).empty(); });
}

/// Adds rows that raise a ceiling that is known or was just measured.
void add_raised(Run& run, const MeasureOptions& options) {
  std::vector<CeilingRow> all = all_ceilings(run, options);
  const std::ptrdiff_t known = std::ssize(all) - std::ssize(run.ceilings);
  raise_ceilings(all, run.rows);
  run.ceilings.assign(all.begin() + known, all.end());
}

/// The options with the results of an earlier try of the session, if it ran on this machine with these versions; the
/// run gets its ceilings.
MeasureOptions taking_up(Run& run, MeasureOptions options) {
  if (!options.earlier) return options;
  ResultDatabase database;
  database.add(*options.earlier);
  const ResultDatabase same = database.select(run.machine, run.backends);
  options.earlier = same.runs().empty() ? nullptr : std::make_shared<const Run>(same.runs().front());
  if (!options.earlier) return options;
  run.ceilings = options.earlier->ceilings;
  if (!options.ceilings) options.ceilings.emplace();
  options.ceilings->insert(options.ceilings->end(), run.ceilings.begin(), run.ceilings.end());
  return options;
}

/// One reading of the round trip for each thread count.
std::vector<CeilingRow> read_round_trips(sampling::ThisHost& host, std::span<const int> counts) {
  host.dismiss();
  std::vector<CeilingRow> rows;
  for (const int threads : counts)
    if (const Seconds trip = round_trip(host.pool(), threads); trip.value > 0)
      rows.push_back({.quantity = CeilingQuantity::timer("round_trip"),
                      .algorithm = "cache_line,threads=" + std::to_string(threads),
                      .threads = threads,
                      .value = trip.value});
  return rows;
}

/// A warning about the times of a run whose threads were far from each other both when it began and when it ended;
/// empty if they were not.
std::string distance_warning(std::span<const CeilingRow> before, std::span<const CeilingRow> after,
                             std::span<const CeilingRow> all) {
  for (const auto& row : before) {
    const auto same = [&](const CeilingRow& other) { return other.threads == row.threads; };
    const auto later = std::find_if(after.begin(), after.end(), same);
    const Seconds usual = ceilings_of(all, row.threads).round_trip;
    const Seconds least{later != after.end() ? std::min(row.value, later->value) : 0};
    if (!is_distant(least, usual)) continue;
    char text[200];
    std::snprintf(text, sizeof text,
                  "%d threads were far from each other: the round trip of a cache line took %.2f us, usually %.2f us; "
                  "times with several threads may be too long",
                  row.threads, least.value * 1e6, usual.value * 1e6);
    return text;
  }
  return {};
}

/// Gives layers that were not reached this time the rows of the earlier try.
void add_earlier(Run& run, const MeasureOptions& options, std::span<const Wanted> wanted) {
  if (!options.earlier) return;
  std::set<std::string> missing;
  for (const auto& entry : wanted) missing.insert(LayerSignature(entry.layer).text());
  for (const auto& row : run.rows) missing.erase(row.signature);
  for (const auto& row : options.earlier->rows) {
    if (!missing.contains(row.signature)) continue;
    run.rows.push_back(row);
    run.rows.back().rounds_s.clear();  // they belong to another pass
    if (row.measured()) run.rows.back().noisy = true;
  }
}

/// The conditions of the processors and, if their number is limited, the reason for that.
std::vector<std::string> with_limit(std::vector<std::string> warnings) {
  if (!cpu_limit().empty()) warnings.insert(warnings.begin(), cpu_limit());
  return warnings;
}

}  // namespace

std::vector<std::string> watch_conditions(Seconds time) {
  const sampling::Conditions conditions(cpus());
  std::this_thread::sleep_for(std::chrono::duration<double>(time.value));
  return with_limit(conditions.warnings());
}

Machine machine_of(std::span<const std::shared_ptr<const Backend>> backends) {
  const auto device = device_of(backends);
  Machine machine = device ? device->machine() : this_machine();
  machine.settings = kernel_settings();
  return machine;
}

Run measure(std::span<const Wanted> wanted, std::span<const std::shared_ptr<const Backend>> backends,
            const MeasureOptions& given) {
  Run run{.started = utc_now(), .tool = std::string(version), .signature_version = signature_version};
  std::set<BackendVersion> versions;
  for (const auto& backend : backends) versions.insert({std::string(backend->name()), backend->version()});
  run.backends.assign(versions.begin(), versions.end());
  const auto device = device_of(backends);
  run.machine = machine_of(backends);
  const MeasureOptions options = taking_up(run, given);

  const auto add_ceilings = [&](std::vector<CeilingRow> rows) {
    run.ceilings.insert(run.ceilings.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  };
  const auto session = [&](sampling::Host& host, Seconds start, int threads, Seconds kept_back) {
    MeasureOptions rest = options;
    rest.budget = options.budget - (host.running() - start) - kept_back;
    if (!rest.ceilings) rest.ceilings.emplace();
    rest.ceilings->insert(rest.ceilings->end(), run.ceilings.begin(), run.ceilings.end());
    rest.kernels_missing = [&](const std::string& reason) {
      run.warnings.push_back(reason);
      if (options.kernels_missing) options.kernels_missing(reason);
    };
    if (options.keep) {
      rest.keep = [&](const Run& now) {
        Run so_far = run;
        so_far.rows = now.rows;
        add_earlier(so_far, options, wanted);
        options.keep(so_far);
      };
    }
    if (options.progress) {
      rest.progress = [&, before = host.running() - start](const Progress& progress) {
        Progress whole = progress;
        whole.elapsed += before;
        options.progress(whole);
      };
    }
    std::vector<CeilingRow> usual_memory;
    run.rows = run_tuning_session(host, wanted, backends, rest, threads, &usual_memory);
    add_ceilings(std::move(usual_memory));
    add_earlier(run, options, wanted);
  };
  if (device) {
    const detail::RunningClock clock;
    sampling::DeviceHost host(*device, sampling::DeviceHost::steady_time, [&clock] { return clock.now(); });
    const Seconds start = host.running();
    add_ceilings(find_ceilings(*device, host.floors(), options, run.warnings));
    // 1.1 TFLOP: some milliseconds, and far more blocks than processors.
    add_ceilings(
        product_peaks(host, product_types(wanted, true), 8192, backends, options, 1, device->highest_clock_hz()));
    session(host, start, 1, {});
    run.machine.state = device->state();  // the state under load
  } else {
    const sampling::Conditions conditions(cpus());
    sampling::ThisHost host(options.threads);
    const Seconds start = host.running();
    const int threads = static_cast<int>(host.cpus().size());
    const std::vector<int> counts = sampling::doubled_counts(threads);
    const Looks looks(options.budget);
    add_ceilings({{.quantity = CeilingQuantity::timer("floor"),
                   .algorithm = "steady_clock,threads=1",
                   .threads = 1,
                   .value = host.timer_floor().value}});
    const auto trips_before = read_round_trips(host, counts);
    add_ceilings(trips_before);
    add_ceilings(find_ceilings(host, options, unknown_counts(options, counts), looks.each, start));
    add_ceilings(product_peaks(host, product_types(wanted, false), 1024, backends, options, threads));
    session(host, start, threads, looks.at_end ? looks.each : Seconds{});
    if (looks.at_end || contradicts_ceilings(run, given))
      add_ceilings(find_ceilings(host, options, counts, looks.each, start));
    const auto trips_after = read_round_trips(host, counts);
    add_ceilings(trips_after);
    run.others = conditions.others(host.cpus());
    auto doubts = with_limit(conditions.warnings());
    if (auto text = distance_warning(trips_before, trips_after, all_ceilings(run, given)); !text.empty())
      doubts.push_back(std::move(text));
    run.warnings.insert(run.warnings.begin(), doubts.begin(), doubts.end());
  }
  add_raised(run, given);
  return run;
}

}  // namespace benanza::measure
