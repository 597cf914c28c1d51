// SPDX-License-Identifier: Apache-2.0
#include "rounds.hpp"

#include "sample_cost.hpp"
#include <benanza/base/detail/quantile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace benanza::measure {

namespace {

/// Fewer rounds than this say less than the samples of the selection.
constexpr std::size_t least_rounds = 4;
/// A row whose p10 moves by more than this between groups is noisy.
constexpr double noisy_share = 0.03;
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

/// The median of each visit after the first one; NaN if all of it was contended.
std::vector<double> visit_times(const Candidate& candidate, const sampling::Sampler& sampler, const Method& method) {
  std::vector<double> result;
  for (std::size_t v = 1; v < candidate.visits.size(); ++v) {
    const std::size_t begin = candidate.visits[v],
                      end = v + 1 < candidate.visits.size() ? candidate.visits[v + 1] : candidate.samples.size();
    const std::vector<sampling::Sample> samples(candidate.samples.begin() + static_cast<std::ptrdiff_t>(begin),
                                                candidate.samples.begin() + static_cast<std::ptrdiff_t>(end));
    result.push_back(detail::quantile(times(samples, sampler, method), 0.5));
  }
  return result;
}

/// How a row was timed: medians of the other method's times, and of the clock.
void describe_timing(Measurement& row, const Candidate& candidate, const Method& method) {
  if (method.name.empty()) return;
  DeviceTiming& device = row.device ? *row.device : row.device.emplace();
  device.method = method.name;
  device.launch = method.launch;
  std::vector<double> clocks, here, other, other_launch;
  const auto add = [&](const sampling::Sample& sample) {
    const sampling::Window& window = sample.window;
    if (window.clock_hz > 0) clocks.push_back(window.clock_hz);
    if (!(window.other.value > 0)) return;
    const bool mine = window.method == method.name;
    here.push_back((mine ? window.time : window.other).value);
    other.push_back((mine ? window.other : window.time).value);
    other_launch.push_back((mine ? window.other_launch : window.launch).value);
  };
  for (const auto& sample : candidate.samples) add(sample);
  for (const auto& sample : candidate.rounds)
    if (sample) add(*sample);
  if (!here.empty()) {
    device.other = OtherMethod{{detail::quantile(other, 0.5)}, {detail::quantile(other_launch, 0.5)}};
    device.disagreement = std::max(0.0, device.other->time.value / detail::quantile(here, 0.5) - 1);
  }
  if (!clocks.empty()) device.clock_hz = detail::quantile(clocks, 0.5);
}

}  // namespace

std::vector<double> round_times(const Candidate& candidate, const sampling::Sampler& sampler, const Method& method) {
  std::vector<double> result;
  for (const auto& sample : candidate.rounds)
    result.push_back(sample && sampler.quiet(*sample) ? time_by(method, *sample).value : no_time);
  return result;
}

std::optional<sampling::Sample> Rounds::time(const Entry& entry, int tries) {
  sampling::Sampler& sampler = place_.sampler();
  std::optional<sampling::Sample> sample;
  place_.trying(entry.candidate->row.name());
  try {
    sampling::Work work = place_.work(*entry.task, *entry.candidate, false);
    sampler.switch_to(work);
    for (int i = 0; i < tries && !(sample && sampler.is_final(*sample)); ++i)
      sample = sampler.sample(entry.candidate->row.calls_per_sample,
                              standing(*entry.candidate, sampler).value_or(Seconds{}));
  } catch (...) {
    entry.candidate->exclude(RowStatus::failed, place_.reason());
    sample.reset();
  }
  return sample;
}

bool Rounds::round(std::vector<Entry>& entries, std::size_t number) {
  const auto is_due = [&](const Entry& entry) {
    return entry.candidate->competes() && (!entry.candidate->seldom || number % seldom_rounds == 0);
  };
  std::vector<std::optional<sampling::Sample>> samples(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (place_.over(place_.options().budget)) return false;
    if (is_due(entries[i])) samples[i] = time(entries[i], 1 + retries);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool final = samples[i] && place_.sampler().is_final(*samples[i]);
    if (final || !is_due(entries[i]) || place_.over(place_.options().budget)) continue;
    samples[i] = time(entries[i], 1);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].candidate->rounds.push_back(samples[i]);
  return true;
}

double Rounds::uncertainty(const std::vector<TuningTask>& tasks, std::size_t done) const {
  const auto best_in = [&](const TuningTask& task, CacheState cache) {
    std::vector<double> best;
    for (const auto& candidate : task.candidates) {
      if (!candidate.chosen || candidate.row.cache != cache || candidate.rounds.size() != done) continue;
      std::vector<double> times = round_times(candidate, place_.sampler(), method_of(candidate));
      if (best.empty() || detail::quantile(times, 0.5) < detail::quantile(best, 0.5)) best = std::move(times);
    }
    return best;
  };
  double result = 0;
  for (const CacheState cache : place_.options().caches) {
    std::vector<double> totals(done, 0);
    for (const auto& task : tasks) {
      std::vector<double> best = best_in(task, cache);
      if (best.empty()) best = best_in(task, CacheState::hot);
      for (std::size_t r = 0; r < best.size(); ++r) totals[r] += task.weight * best[r];
    }
    result = std::max(result, detail::group_uncertainty(totals, 0.1, groups));
  }
  return result;
}

void Rounds::pause(Seconds time) {
  constexpr Seconds slice{0.05};  // so that a cancelled session ends at once
  const Seconds end = place_.elapsed() + time;
  while (place_.elapsed() < end && !place_.over(place_.options().budget))
    place_.host().pause(std::min(slice, end - place_.elapsed()));
}

void Rounds::wait_until_near(int threads, Seconds most) {
  constexpr Seconds slice{0.05};
  const Seconds end = place_.elapsed() + most;
  while (threads > 1 && place_.elapsed() < end && !place_.over(place_.options().budget) &&
         place_.sampler().distant_now(threads))
    place_.host().pause(slice);
}

void Rounds::order(std::vector<Entry>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.candidate->row.threads < b.candidate->row.threads; });
}

void Rounds::add_faster(std::vector<TuningTask>& tasks, std::vector<Entry>& entries) {
  constexpr double margin = 1.05;  // the samples of the selection flatter the plan that it chose
  const sampling::Sampler& sampler = place_.sampler();
  std::map<std::pair<TuningTask*, CacheState>, double> best;  // by the rounds
  for (const auto& [task, candidate] : entries) {
    const double time = detail::quantile(round_times(*candidate, sampler, method_of(*candidate)), 0.1);
    if (!std::isfinite(time)) continue;
    const auto [at, is_first] = best.try_emplace({task, candidate->row.cache}, time);
    at->second = std::min(at->second, time);
  }
  const std::size_t done = entries.front().candidate->rounds.size();
  for (auto& task : tasks)
    for (auto& candidate : task.candidates) {
      const auto chosen = best.find({&task, candidate.row.cache});
      if (candidate.chosen || !candidate.competes() || chosen == best.end()) continue;
      const auto time = standing(candidate, sampler);
      if (!time || time->value * margin >= chosen->second) continue;
      candidate.chosen = true;
      candidate.rounds.assign(done, std::nullopt);
      entries.push_back({&task, &candidate});
    }
  order(entries);
}

void Rounds::run(std::vector<TuningTask>& tasks) {
  std::vector<Entry> entries;
  const Seconds cost = round_cost(tasks, place_.sampler());
  for (auto& task : tasks)
    for (auto& candidate : task.candidates)
      if (candidate.chosen && candidate.competes()) entries.push_back({&task, &candidate});
  if (entries.empty()) return;
  order(entries);

  const double fitting = std::max(0.0, place_.remaining() / cost);
  const std::size_t planned =
      fitting < static_cast<double>(wanted) ? std::max<std::size_t>(1, static_cast<std::size_t>(fitting)) : wanted;
  const std::size_t group = (planned + groups - 1) / groups;
  wait_until_near(entries.back().candidate->row.threads, longest_wait * place_.remaining());
  const Seconds start = place_.elapsed();
  Seconds group_start = start, paused{};
  for (std::size_t done = 0; done < most; ++done) {
    if (done >= wanted && done % group == 0 && uncertainty(tasks, done) <= wanted_uncertainty) break;
    if (done == group) add_faster(tasks, entries);
    if (done > 0 && done % group == 0) {
      const Seconds before = place_.elapsed();
      pause(group_distance - (before - group_start));
      wait_until_near(entries.back().candidate->row.threads, longest_wait * place_.remaining());
      group_start = place_.elapsed();
      paused += group_start - before;
    }
    const Seconds each = done == 0 ? cost : (place_.elapsed() - start - paused) / static_cast<double>(done);
    if (done > 0 && place_.remaining() < each) break;
    const std::size_t total = std::max(planned, (done / group + 1) * group);
    place_.report("rounds", done, total, each * static_cast<double>(total - done), entries.front().task->signature);
    if (!round(entries, done)) break;
    place_.keep(tasks);
  }
  accept_distant_if_needed(entries);
  check_by_activity(entries);
  ask_kernels(entries);
}

void Rounds::accept_distant_if_needed(const std::vector<Entry>& entries) {
  sampling::Sampler& sampler = place_.sampler();
  for (const auto& entry : entries) {
    const auto& rounds = entry.candidate->rounds;
    const auto near = std::count_if(rounds.begin(), rounds.end(),
                                    [&](const auto& sample) { return sample && !sampler.distant(*sample); });
    if (entry.candidate->competes() && !entry.candidate->seldom && static_cast<std::size_t>(near) < least_rounds)
      return sampler.accept_distant();
  }
}

void Rounds::check_by_activity(std::vector<Entry>& entries) {
  if (!place_.options().activity_check) return;
  for (auto& entry : entries) {
    if (!entry.candidate->competes() || place_.over(place_.options().budget)) continue;
    if (entry.candidate->row.cache != CacheState::hot) continue;  // its few calls are not a whole traversal
    place_.trying(entry.candidate->row.name());
    try {
      sampling::Work work = place_.work(*entry.task, *entry.candidate, false);
      const auto time = place_.host().kernel_time(work);
      if (!time) return;  // nor is there one for any other entry
      if (!(time->whole.value > 0)) continue;
      auto& device = entry.candidate->row.device;
      if (!device) device.emplace();
      device->kernels = *time;
    } catch (...) {
      static_cast<void>(place_.reason());  // throws for a lost device; otherwise, the row remains unchecked
    }
  }
}

void Rounds::ask_kernels(std::vector<Entry>& entries) {
  const MeasureOptions& options = place_.options();
  if (options.metrics.empty()) return;
  std::set<std::string> said;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [task, candidate] = entries[i];
    if (options.stop.stop_requested()) return;
    // Not the row's own name: a crash here must not cost a row that has been timed.
    const std::string name = "kernels of " + candidate->row.name();
    if (!candidate->competes() || options.crashing_plans.contains(name)) continue;
    place_.trying(name);
    place_.report("kernels", i, entries.size(), {}, task->signature);
    std::string missing;
    try {
      sampling::Work work = place_.work(*task, *candidate, false);
      KernelRecords records = place_.host().kernels(work, options.metrics);
      missing = records.missing;
      candidate->row.kernel_launches = std::move(records.launches);
    } catch (...) {
      missing = place_.reason();  // the row remains without kernels
    }
    if (missing.empty()) continue;
    const bool none = candidate->row.kernel_launches.empty();
    if (said.insert(missing).second && options.kernels_missing)
      options.kernels_missing((none ? "no kernels are kept: " : "no counters of kernels: ") + missing);
  }
}

std::vector<Measurement> finished_rows(std::span<const TuningTask> tasks, const sampling::Sampler& sampler) {
  std::vector<Measurement> rows;
  for (const auto& task : tasks)
    for (const auto& candidate : task.candidates)
      if (auto row = finished_row(candidate, sampler)) rows.push_back(std::move(*row));
  double highest = 0;
  for (const auto& row : rows)
    if (row.device) highest = std::max(highest, row.device->clock_hz.value_or(0));
  const double wander = sampler.wander();
  for (auto& row : rows) {
    if (row.device) row.device->throttled = row.device->clock_hz && *row.device->clock_hz < (1 - throttling) * highest;
    if (!row.rounds_s.empty()) row.wander = wander;
  }
  return rows;
}

std::optional<Measurement> finished_row(const Candidate& candidate, const sampling::Sampler& sampler) {
  Measurement row = candidate.row;
  const Method method = method_of(candidate);
  std::vector<double> rounds = round_times(candidate, sampler, method);
  const auto valid = static_cast<std::size_t>(
      std::count_if(rounds.begin(), rounds.end(), [](double time) { return std::isfinite(time); }));
  std::vector<double> counted = valid >= least_rounds ? rounds : times(candidate.samples, sampler, method);
  if (valid < least_rounds) counted.insert(counted.end(), rounds.begin(), rounds.end());
  std::vector<double> sorted = detail::sorted_finite(counted);
  if (sorted.empty()) {
    std::vector<sampling::Sample> contended = candidate.samples;
    for (const auto& sample : candidate.rounds)
      if (sample) contended.push_back(*sample);
    const Undisturbed idle = undisturbed(contended, sampler, method);
    sorted = detail::sorted_finite(idle.estimates);
    row.contended = !sorted.empty();
    if (row.contended) row.at_least = Seconds{detail::quantile(idle.at_least, 0.1)};
    if (row.contended) row.at_most = Seconds{detail::quantile(idle.at_most, 0.1)};
  }
  if (sorted.empty()) return !row.measured() || row.samples > 0 ? std::optional(row) : std::nullopt;
  describe_timing(row, candidate, method);

  row.samples = row.contended ? 0 : static_cast<std::int64_t>(sorted.size());
  row.times = MeasuredTimes{.min = {sorted.front()},
                            .p10 = {detail::quantile_of_sorted(sorted, 0.1)},
                            .median = {detail::quantile_of_sorted(sorted, 0.5)},
                            .p90 = {detail::quantile_of_sorted(sorted, 0.9)},
                            .cv = detail::coefficient_of_variation(sorted)};
  if (candidate.chosen) {
    const bool distant = sampler.accepts_distant() &&
                         std::any_of(candidate.rounds.begin(), candidate.rounds.end(),
                                     [&](const auto& sample) { return sample && sampler.distant(*sample); });
    row.noisy =
        distant || valid < 2 * Rounds::groups || detail::group_uncertainty(rounds, 0.1, Rounds::groups) > noisy_share;
    row.rounds_s = std::move(rounds);
    row.visits_s = visit_times(candidate, sampler, method);
  } else {
    row.noisy = candidate.competes() && candidate.visits.size() < Tuner::visits;
  }
  return row;
}

}  // namespace benanza::measure
