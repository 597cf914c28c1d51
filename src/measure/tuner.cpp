// SPDX-License-Identifier: Apache-2.0
#include "tuner.hpp"

#include "candidate_order.hpp"
#include "sample_cost.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace benanza::measure {

namespace {

/// Roughly the time of one call, before anything is measured.
Seconds guess(const TuningTask& task) {
  const Cost layer_cost = cost(task.layer);
  return {layer_cost.flops.value / 50e9 + layer_cost.bytes().value / 10e9};
}

/// The time that the first visits of a task need: its calls and the preparation of its plans. About half of the plans
/// pack the weights, at roughly 0.5 GB/s. In a large dense layer, packing is slower than a call.
Seconds claim(const TuningTask& task) {
  double weights = 0;
  for (const auto& operand : task.operands.inputs)
    if (operand.is_weight()) weights += static_cast<double>(operand.touched_bytes());
  return guess(task) + Seconds{2.5e-3 + weights / 1e9};
}

/// A cancelled session should lack only the layers that matter least.
double importance(const TuningTask& task) { return task.weight * guess(task).value; }

/// The candidate of the same plan with everything in the caches, if this state was requested.
const Candidate* hotter(const TuningTask& task, const Candidate& candidate) {
  const auto found = std::find_if(task.candidates.begin(), task.candidates.end(), [&](const Candidate& other) {
    return other.row.cache == CacheState::hot && other.row.backend == candidate.row.backend &&
           other.row.algorithm == candidate.row.algorithm;
  });
  return found == task.candidates.end() ? nullptr : &*found;
}

}  // namespace

void Tuner::admit(TuningTask& task, Seconds until, Pass pass) {
  if (task.candidates.empty()) {
    finder_.find_candidates(task);
    drop_losers(task, first_margin, place_.sampler());  // by the results of an earlier try of the session
  }
  if (std::none_of(task.candidates.begin(), task.candidates.end(),
                   [](const Candidate& candidate) { return candidate.competes(); }))
    return;

  std::vector<Expected> expected;
  try {
    expected = place_.expected(task);
  } catch (...) {
    const std::string reason = "cannot be checked against the reference: " + place_.reason();
    for (auto& candidate : task.candidates)
      if (candidate.competes()) candidate.exclude_for(reason);
    return;
  }
  const int most_threads = finder_.thread_counts().back();
  std::map<std::pair<CacheState, int>, int> tried;  // how many candidates
  for (const auto& candidate : task.candidates)
    if (candidate.was_tried()) ++tried[{candidate.row.cache, candidate.row.threads}];
  for (const bool last_resorts : {false, true}) {
    const bool others_were_tried =
        last_resorts && std::any_of(tried.begin(), tried.end(), [](const auto& entry) { return entry.second > 0; });
    for (const CacheState cache : cache_states) {
      // Most threads first: a plan that is slow with more threads need not be tried with fewer.
      for (auto threads = finder_.thread_counts().rbegin(); threads != finder_.thread_counts().rend(); ++threads) {
        int& count = tried[{cache, *threads}];
        int least = 1;  // this many are tried even if time is over
        for (Candidate* candidate : best_first(task, cache, *threads, last_resorts, place_.sampler(), related_)) {
          if (candidate->was_tried()) continue;
          const Candidate* hot = cache == CacheState::hot ? nullptr : hotter(task, *candidate);
          if (hot != nullptr && hot->competes() && !hot->was_tried() && hot->row.samples == 0) continue;  // not yet
          const bool tried_earlier = candidate->row.samples > 0;
          // A further session must try something new, even if its budget is as short as the first one's.
          if (tried_earlier && cache == CacheState::hot && *threads == most_threads) least = 2;
          if (count >= (tried_earlier ? 1 : least) && place_.over(until)) {
            if (pass == Pass::likely) break;
            if (tried_earlier || (hot != nullptr && !hot->row.measured()))
              candidate->plan.reset();  // its earlier row remains, or the row of the plan in the caches says why
            else if (others_were_tried)
              candidate->exclude(RowStatus::not_tried,
                                 "a last resort by its name, and the budget gave this layer no more time");
            else candidate->exclude(RowStatus::out_of_time);
            continue;
          }
          if (cache == CacheState::hot) try_out(task, *candidate, expected, until);
          else try_colder(task, *candidate, hot, expected, until);
          if (candidate->was_tried()) ++count;
        }
        drop_after_first(task, until);
      }
    }
  }
  related_.add(task, place_.sampler());
}

void Tuner::drop_after_first(TuningTask& task, Seconds until) {
  for (auto& candidate : task.candidates) {
    if (!candidate.competes() || !candidate.only_checked) continue;
    const auto best = loses(task, candidate);
    if (!best || is_enough(candidate.first_call, *best, until)) continue;
    place_.trying(candidate.row.name());
    try {
      sampling::Work work = place_.work(task, candidate, false);
      place_.sampler().switch_to(work);
      take(candidate, 1, until);
      candidate.only_checked = false;
    } catch (...) {
      candidate.exclude(RowStatus::failed, place_.reason());
    }
  }
  drop_losers(task, first_margin, place_.sampler());
}

std::optional<Seconds> Tuner::best_when_hot(const TuningTask& task) const {
  std::optional<Seconds> best;
  for (const auto& candidate : task.candidates) {
    if (candidate.row.cache != CacheState::hot || !candidate.competes()) continue;
    if (const auto time = standing(candidate, place_.sampler())) best = best ? std::min(*best, *time) : *time;
  }
  return best;
}

void Tuner::try_out(TuningTask& task, Candidate& candidate, const std::vector<Expected>& expected, Seconds until) {
  place_.trying(candidate.row.name());
  try {
    if (const Candidate* wider = lost_with_more_threads(task, candidate)) {
      if (wider->row.status == RowStatus::out_of_time) return candidate.exclude(RowStatus::out_of_time);
      candidate.exclude(RowStatus::not_tried, "clearly slower with " + std::to_string(wider->row.threads) + " threads");
      return;
    }
    candidate.build(place_.host());
    if (!candidate.competes()) return;
    const Seconds start = place_.host().now();
    static_cast<void>(place_.work(task, candidate, true));  // packs constants
    candidate.row.preparation = candidate.row.preparation.value_or(Seconds{}) + (place_.host().now() - start);
    sampling::Work work = place_.work(task, candidate, true);
    place_.sampler().switch_to(work);
    const bool is_long =
        place_.host().is_shared() && best_when_hot(task).value_or(Seconds{}) >= sampling::Sampler::long_call;
    const sampling::Sample call = place_.check(task, candidate, work, expected, is_long);
    if (!candidate.competes()) return;
    candidate.first_call = call.time;
    bool repeated = true, delayed = false;
    if (const auto best = loses_at_first_call(task, candidate)) {
      repeated = !is_enough(call.time, *best, until);
      if (repeated)  // threads may have slept, or another process may have run
        candidate.first_call = std::min(call.time, place_.once(work));
      delayed = candidate.first_call < call.time;
    }
    // The plan that the library's heuristic chose is timed however slow it is, since that shows what the heuristic
    // costs.
    if (const auto best = loses_at_first_call(task, candidate); best && !candidate.row.advised) {
      if (!repeated) return candidate.exclude(RowStatus::out_of_time);  // one call does not drop it for good
      char text[96];
      std::snprintf(text, sizeof text, "%.3g ms, the best takes %.3g ms", candidate.first_call.value * 1e3,
                    best->value * 1e3);
      candidate.exclude(RowStatus::slower, text);
      return;
    }
    const bool counts = is_long && !delayed && call.time >= sampling::Sampler::long_call;
    first_samples(task, candidate, candidate.first_call, until, true, counts ? std::optional(call) : std::nullopt);
  } catch (...) {
    candidate.exclude(RowStatus::failed, place_.reason());
  }
}

void Tuner::try_colder(TuningTask& task, Candidate& candidate, const Candidate* hot,
                       const std::vector<Expected>& expected, Seconds until) {
  place_.trying(candidate.row.name());
  try {
    Seconds before{};
    if (hot == nullptr) {  // only this state was requested
      candidate.build(place_.host());
      if (!candidate.competes()) return;
      sampling::Work work = place_.work(task, candidate, true);
      place_.sampler().switch_to(work);
      before = place_.check(task, candidate, work, expected, false).time;
      if (!candidate.competes()) return;
    } else if (!hot->row.measured()) {
      return candidate.exclude_for(hot->row.reason);
    } else {
      const auto time = hot->competes() ? standing(*hot, place_.sampler()) : std::nullopt;
      const double margin = time.value_or(Seconds{}) >= sampling::Sampler::medium_call ? later_margin : first_margin;
      if (!time || loses(task, *hot, margin)) return candidate.plan.reset();
      candidate.build(place_.host());
      candidate.row.difference = hot->row.difference;
      before = *time;
    }
    sampling::Work work = place_.work(task, candidate, false);
    place_.sampler().switch_to(work);
    first_samples(task, candidate, before, until, false);
  } catch (...) {
    candidate.exclude(RowStatus::failed, place_.reason());
  }
}

void Tuner::first_samples(const TuningTask& task, Candidate& candidate, Seconds expected, Seconds until,
                          bool just_called, const std::optional<sampling::Sample>& checked) {
  sampling::Sampler& sampler = place_.sampler();
  const auto [sample, calls] =
      checked ? std::pair(*checked, std::int64_t{1}) : sampler.first_sample(expected, just_called);
  candidate.visits.push_back(candidate.samples.size());
  candidate.samples.push_back(sample);
  candidate.row.calls_per_sample = calls;
  const int most = expected >= sampling::Sampler::long_call ? 1 : retries;
  for (int i = 0; i < most && !sampler.is_final(candidate.samples.back()); ++i)
    candidate.samples.push_back(sampler.sample(calls, expected));
  candidate.only_checked = checked && candidate.samples.size() == 1;
  if (calls > 1 || candidate.samples.size() > 1) return;
  const Seconds time = sample.time;
  if (candidate.first_call * first_margin >= time) return;  // the checked call took as long
  if (const auto best = loses(task, candidate); best && !is_enough(time, *best, until))
    candidate.samples.push_back(sampler.sample(calls, expected));
}

bool Tuner::is_enough(Seconds call, Seconds best, Seconds until) const {
  return call > best + longest_delay && place_.elapsed() + call > until;
}

std::optional<Seconds> Tuner::loses(const TuningTask& task, const Candidate& candidate, double margin) const {
  const auto best_by = [&](auto&& time_of) {
    Seconds best{std::numeric_limits<double>::infinity()};
    for (const auto& other : task.candidates)
      if (other.row.cache == candidate.row.cache && other.competes())
        if (const auto time = time_of(other, place_.sampler())) best = std::min(best, *time);
    const bool lost = *time_of(candidate, place_.sampler()) > best * margin;
    return lost ? std::optional(best) : std::nullopt;
  };
  return best_by(counted) ? best_by(standing) : std::nullopt;
}

std::optional<Seconds> Tuner::loses_at_first_call(const TuningTask& task, const Candidate& candidate) const {
  constexpr Seconds first_of_all{5e-3};  // how much longer a first call may take than others
  const Seconds time = candidate.first_call - first_of_all;
  const double margin = candidate.first_call >= sampling::Sampler::long_call ? later_margin : first_margin;
  std::optional<Seconds> best;
  Seconds least_work{std::numeric_limits<double>::infinity()};
  for (const auto& other : task.candidates) {
    const auto standing_time = &other != &candidate && other.row.cache == CacheState::hot && other.competes()
                                   ? standing(other, place_.sampler())
                                   : std::nullopt;
    if (!standing_time) continue;
    best = std::min(best.value_or(*standing_time), *standing_time);
    least_work = std::min(least_work, *standing_time * static_cast<double>(other.row.threads));
  }
  const bool slow = best && time > *best * margin;
  return slow && time * static_cast<double>(candidate.row.threads) > least_work * margin ? best : std::nullopt;
}

void Tuner::take(Candidate& candidate, int samples, Seconds until) {
  sampling::Sampler& sampler = place_.sampler();
  for (int tries = 0, good = 0; good < samples && tries < samples + retries && !(tries > 0 && place_.over(until));
       ++tries) {
    candidate.samples.push_back(
        sampler.sample(candidate.row.calls_per_sample, standing(candidate, sampler).value_or(Seconds{})));
    if (sampler.is_final(candidate.samples.back())) ++good;
  }
}

void Tuner::visit(TuningTask& task, int samples, Seconds until) {
  const int blocks = samples >= 4 ? 2 : 1;
  for (int block = 0; block < blocks; ++block) {
    for (auto& candidate : task.candidates) {
      const bool alone = task.competitors(candidate.row.cache) < 2;
      if (!candidate.competes() || alone || place_.over(until)) continue;
      place_.trying(candidate.row.name());
      try {
        sampling::Work work = place_.work(task, candidate, false);
        place_.sampler().switch_to(work);
        if (block == 0) candidate.visits.push_back(candidate.samples.size());
        take(candidate, samples / blocks, until);
      } catch (...) {
        candidate.exclude(RowStatus::failed, place_.reason());
      }
    }
  }
  drop_losers(task, later_margin, place_.sampler());
}

Seconds Tuner::estimate(const TuningTask& task) const {
  Seconds total{};
  for (const auto& candidate : task.candidates)
    if (candidate.competes() && task.competitors(candidate.row.cache) > 1)
      total += sample_cost(candidate, place_.sampler());
  return total;
}

Seconds Tuner::end_of_visits(std::vector<TuningTask>& tasks, std::span<TuningTask* const> open, Seconds until) {
  Seconds once{};
  for (auto* task : open) {
    choose(*task, place_.sampler());
    if (!task->decided()) once += estimate(*task);
  }
  const Seconds round = round_cost(tasks, place_.sampler());
  const Seconds rounds = round * static_cast<double>(rounds_to_come);
  const Seconds least = place_.elapsed() + once * static_cast<double>(visits - 1);
  return std::min({until, start_of_rounds(round), std::max(least, place_.options().budget - rounds)});
}

void Tuner::run(std::vector<TuningTask>& tasks, Seconds until) {
  std::vector<TuningTask*> open;
  for (auto& task : tasks)
    if (!task.known && !is_free(task.layer)) open.push_back(&task);
  std::stable_sort(open.begin(), open.end(),
                   [](const TuningTask* a, const TuningTask* b) { return importance(*a) > importance(*b); });

  const std::size_t total = open.size() * (visits + 1);
  std::size_t done = 0;
  // Each layer gets time in proportion to the expected time of its calls, and at least one plan is tried, even at the
  // cost of rounds: a layer without a row makes every total partial. Layers later in the order get the time that is
  // left.
  const Seconds round_of_known = round_cost(tasks, place_.sampler());
  const auto admit_all = [&](Pass pass, Seconds end) {
    Seconds claims{}, round_of_tried{};
    for (const auto* task : open) claims += claim(*task);
    const Seconds all_claims = claims;
    for (auto* task : open) {
      if (place_.over(place_.options().budget) && task->candidates.empty()) break;
      place_.report("select", done++, total, place_.remaining(), task->signature);
      const double tried = (all_claims - claims) / all_claims;
      const Seconds round = round_of_known + (tried > 0 ? round_of_tried / tried : Seconds{});
      const Seconds left = std::max(Seconds{}, std::min(end, start_of_rounds(round)) - place_.elapsed());
      admit(*task, place_.elapsed() + left * (claim(*task) / claims), pass);
      claims = claims - claim(*task);
      choose(*task, place_.sampler());
      round_of_tried += round_cost(std::span(task, 1), place_.sampler());
      place_.keep(tasks);
    }
  };
  const Seconds start = place_.elapsed();
  admit_all(Pass::likely, start + (until - start) * likely_share);
  place_.keep_at_once();  // no layer lacks a row now
  admit_all(Pass::all, until);
  until = end_of_visits(tasks, open, until);
  for (std::size_t v = 1; v < visits; ++v) {
    Seconds once{};
    for (const auto* task : open)
      if (!task->decided()) once += estimate(*task);
    const Seconds slot = (until - place_.elapsed()) / static_cast<double>(visits - v);
    const int samples = once.value > 0 ? static_cast<int>(std::clamp(slot / once, 1.0, 2.0 * most_samples)) : 1;
    for (auto* task : open) {
      if (place_.over(until)) break;
      place_.report("select", done++, total, place_.remaining(), task->signature);
      if (!task->decided()) visit(*task, samples, until);
      place_.keep(tasks);
    }
  }
  for (auto* task : open) choose(*task, place_.sampler());
}

}  // namespace benanza::measure
