// SPDX-License-Identifier: Apache-2.0
#include "candidate_finder.hpp"

#include "known.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace benanza::measure {

namespace {

/// The row of a layer for which a backend has no plans.
Measurement empty_row(const TuningTask& task, const Backend& backend, int threads) {
  return {.backend = std::string(backend.name()),
          .algorithm = "none,threads=" + std::to_string(threads),
          .has_plan = false,
          .signature = task.signature,
          .threads = threads};
}

void add_row(TuningTask& task, const Backend& backend, int threads, RowStatus status, std::string_view why,
             const MeasureOptions& options) {
  Candidate candidate{.backend = &backend};
  candidate.row = empty_row(task, backend, threads);
  candidate.row.exclude(status, why);
  if (options.accept && !options.accept(candidate.row.name())) return;
  task.candidates.push_back(std::move(candidate));
}

/// One candidate per cache state, all with the same plan.
std::vector<Candidate> candidates_of(const TuningTask& task, const Backend& backend, PlanDraft draft,
                                     std::span<const CacheState> caches, Seconds listing) {
  std::vector<Candidate> result;
  for (const CacheState cache : states_of(task.layer, caches)) {
    Candidate candidate{.backend = &backend};
    candidate.row = {.backend = std::string(backend.name()),
                     .algorithm = draft.algorithm,
                     .cache = cache,
                     .signature = task.signature,
                     .threads = draft.threads,
                     .preparation = listing,
                     .advised = draft.advised};
    result.push_back(std::move(candidate));
  }
  const auto plan = std::make_shared<LazyPlan>(std::move(draft), listing);
  for (auto& candidate : result) candidate.plan = plan;
  return result;
}

}  // namespace

CandidateFinder::CandidateFinder(Workplace& place, Backends backends, std::vector<int> thread_counts)
    : place_(place), backends_(backends), thread_counts_(std::move(thread_counts)) {
  const auto& earlier = place_.options().earlier;
  if (!earlier) return;
  for (const auto& row : earlier->rows) earlier_[row.name()] = &row;
}

void CandidateFinder::take_earlier(Candidate& candidate) const {
  const auto found = earlier_.find(candidate.row.name());
  if (found == earlier_.end() || !was_tried(found->second->status)) return;
  const Measurement& row = *found->second;
  if (!row.measured()) return candidate.exclude_for(row.reason);
  if (row.samples == 0) return;  // contended
  const bool advised = candidate.row.advised;
  candidate.row = row;
  candidate.row.advised = advised;
  candidate.row.rounds_s.clear();  // they belong to another pass
  candidate.row.noisy = true;
}

void CandidateFinder::add_plans(TuningTask& task, const Backend& backend, int threads) const {
  const auto& options = place_.options();
  const auto& crashing_plans = options.crashing_plans;
  const std::string making = empty_row(task, backend, threads).name();
  if (const auto crashing_plan = crashing_plans.find(making); crashing_plan != crashing_plans.end())
    return add_row(task, backend, threads, RowStatus::ended, crashing_plan->second, options);
  place_.trying(making);
  std::variant<PlanDrafts, Unsupported> answer;
  const Seconds start = place_.host().now();
  try {
    answer = backend.drafts(task.layer, threads);
  } catch (...) {
    add_row(task, backend, threads, RowStatus::failed, place_.reason(), options);
    return;
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&answer)) {
    const bool said = std::any_of(task.candidates.begin(), task.candidates.end(),
                                  [&](const Candidate& candidate) { return candidate.backend == &backend; });
    if (!said) add_row(task, backend, threads, RowStatus::unsupported, unsupported->reason, options);
    return;
  }
  auto& drafts = std::get<PlanDrafts>(answer);
  const Seconds each = (place_.host().now() - start) / static_cast<double>(std::max<std::size_t>(1, drafts.size()));
  for (auto& draft : drafts) {
    for (auto& candidate : candidates_of(task, backend, std::move(draft), options.caches, each)) {
      take_earlier(candidate);
      if (const auto crashing_plan = crashing_plans.find(candidate.row.name()); crashing_plan != crashing_plans.end())
        candidate.exclude_for(crashing_plan->second);
      if (!options.accept || options.accept(candidate.row.name())) task.candidates.push_back(std::move(candidate));
    }
  }
}

void CandidateFinder::take_known(TuningTask& task, std::span<const Measurement> rows) const {
  std::vector<const Measurement*> chosen, for_work;
  for (const CacheState cache : states_of(task.layer, place_.options().caches)) {
    const Measurement *fastest = nullptr, *as_run = nullptr, *least = nullptr;  // in the sense of `choose`
    bool quiet = false;
    for (const auto& row : rows) {
      const bool counts =
          row.measured() && row.times && row.times->p10.value > 0 && row.threads <= thread_counts_.back();
      if (row.cache != cache || !counts) continue;
      // Other processes can only have slowed a plan down: a plan that was the fastest nevertheless is the fastest.
      quiet = quiet || !row.contended;
      const auto counted = [](const Measurement& m) { return without_launch(m, m.times->p10).value; };
      const auto by_count = [&](const Measurement& m) { return std::tuple(counted(m), m.times->p10.value, m.name()); };
      const auto by_run = [&](const Measurement& m) { return std::tuple(m.times->p10.value, counted(m), m.name()); };
      const auto by_work = [&](const Measurement& m) {
        return std::tuple(counted(m) * m.threads, m.times->p10.value, m.name());
      };
      if (fastest == nullptr || by_count(row) < by_count(*fastest)) fastest = &row;
      if (as_run == nullptr || by_run(row) < by_run(*as_run)) as_run = &row;
      if (least == nullptr || by_work(row) < by_work(*least)) least = &row;
    }
    if (!quiet) return;  // was not measured in this state, or never in quiet
    chosen.push_back(fastest);
    if (as_run != fastest) chosen.push_back(as_run);
    if (least == fastest || least == as_run || cache != CacheState::hot) continue;
    chosen.push_back(least);
    for_work.push_back(least);
  }
  TuningTask found = {.layer = task.layer, .signature = task.signature, .operands = task.operands};
  for (const Measurement* row : chosen) {
    const auto same = [&](const Candidate& candidate) {
      return candidate.row.backend == row->backend && candidate.row.algorithm == row->algorithm &&
             candidate.row.cache == row->cache;
    };
    auto candidate = std::find_if(found.candidates.begin(), found.candidates.end(), same);
    if (candidate == found.candidates.end()) {
      const auto backend =
          std::find_if(backends_.begin(), backends_.end(), [&](const auto& b) { return b->name() == row->backend; });
      if (backend == backends_.end()) return;
      add_plans(found, **backend, row->threads);
      candidate = std::find_if(found.candidates.begin(), found.candidates.end(), same);
    }
    if (candidate == found.candidates.end() || !candidate->competes())
      return;  // the plan no longer exists: select again
    place_.trying(candidate->row.name());
    try {
      candidate->build(place_.host());
    } catch (...) {
      candidate->exclude(RowStatus::failed, place_.reason());
    }
    if (!candidate->competes()) return;
    candidate->row.calls_per_sample = std::max<std::int64_t>(1, row->calls_per_sample);
    candidate->row.difference = row->difference;
    candidate->row.times = row->times;
    if (row->device) candidate->row.device = DeviceTiming{.launch = row->device->launch};
    candidate->chosen = true;
    candidate->seldom = std::find(for_work.begin(), for_work.end(), row) != for_work.end();
  }
  for (auto& candidate : found.candidates)
    if (candidate.chosen) task.candidates.push_back(std::move(candidate));
  task.known = !chosen.empty();
}

std::vector<TuningTask> CandidateFinder::tasks(std::span<const Wanted> wanted) const {
  std::vector<TuningTask> tasks;
  for (const auto& entry : wanted)
    tasks.push_back({.layer = entry.layer,
                     .signature = LayerSignature(entry.layer).text(),
                     .operands = operands(entry.layer),
                     .weight = entry.weight});
  for (std::size_t i = 0; i < wanted.size(); ++i) take_known(tasks[i], wanted[i].known);
  return tasks;
}

void CandidateFinder::find_candidates(TuningTask& task) const {
  for (const auto& backend : backends_) {
    const auto availability = backend->availability();
    if (const auto* unsupported = std::get_if<Unsupported>(&availability)) {
      add_row(task, *backend, 1, RowStatus::unsupported, unsupported->reason, place_.options());
      continue;
    }
    for (const int threads : thread_counts_) add_plans(task, *backend, threads);
  }
}

}  // namespace benanza::measure
