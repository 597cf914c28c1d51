// SPDX-License-Identifier: Apache-2.0
#include "roster.hpp"

#include <benanza/bench/known.hpp>
#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace benanza::bench {

namespace {

/// The row of a layer that a backend has no plans for.
Measurement empty_row(const Contest& contest, const Backend& backend, int threads) {
  return {.backend = std::string(backend.name()),
          .algorithm = "none,threads=" + std::to_string(threads),
          .signature = contest.signature,
          .threads = threads};
}

void add_row(Contest& contest, const Backend& backend, int threads, std::string reason, const MeasureOptions& options) {
  Rival rival{.backend = &backend};
  rival.row = empty_row(contest, backend, threads);
  rival.row.excluded = std::move(reason);
  if (options.accept && !options.accept(rival.row.name())) return;
  contest.rivals.push_back(std::move(rival));
}

Rival rival_of(const Contest& contest, const Backend& backend, std::shared_ptr<const Plan> plan, CacheState cache,
               Seconds preparation) {
  Rival rival{.backend = &backend};
  rival.row = {.backend = std::string(backend.name()),
               .algorithm = plan->algorithm(),
               .cache = cache,
               .signature = contest.signature,
               .threads = plan->threads(),
               .preparation = preparation,
               .workspace_bytes = static_cast<std::int64_t>(plan->workspace_bytes()),
               .saves_multiplications = plan->saves_multiplications()};
  rival.plan = std::move(plan);
  return rival;
}

/// The reason of a row without a plan where not the backend said so: `is_unsupported` tells them apart.
std::string failure(const std::string& reason) { return reason.starts_with("failed: ") ? reason : "failed: " + reason; }

}  // namespace

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

Roster::Roster(Workplace& place, Backends backends, std::vector<int> thread_counts)
    : place_(place), backends_(backends), thread_counts_(std::move(thread_counts)) {
  const auto& earlier = place_.options().earlier;
  if (!earlier) return;
  for (const auto& row : earlier->rows) earlier_[row.name()] = &row;
}

void Roster::take_up(Rival& rival) const {
  const auto found = earlier_.find(rival.row.name());
  if (found == earlier_.end() || !was_tried(*found->second)) return;
  const Measurement& row = *found->second;
  if (row.excluded) return rival.exclude(*row.excluded);
  if (row.samples == 0) return;  // contended
  rival.row = row;
  rival.row.rounds_s.clear();  // those of another pass
  rival.row.noisy = true;
}

void Roster::add_plans(Contest& contest, const Backend& backend, int threads) const {
  const auto& options = place_.options();
  const auto& culprits = options.culprits;
  const std::string making = empty_row(contest, backend, threads).name();
  if (const auto culprit = culprits.find(making); culprit != culprits.end())
    return add_row(contest, backend, threads, failure(culprit->second), options);
  place_.trying(making);
  std::variant<Plans, Unsupported> answer;
  const Seconds start = place_.host().now();
  try {
    answer = backend.plans(contest.layer, threads);
  } catch (...) {
    add_row(contest, backend, threads, place_.reason(), options);
    return;
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&answer)) {
    const bool said = std::any_of(contest.rivals.begin(), contest.rivals.end(),
                                  [&](const Rival& rival) { return rival.backend == &backend; });
    if (!said) add_row(contest, backend, threads, unsupported->reason, options);
    return;
  }
  auto& plans = std::get<Plans>(answer);
  const Seconds each = (place_.host().now() - start) / static_cast<double>(std::max<std::size_t>(1, plans.size()));
  for (auto& owned : plans) {
    const std::shared_ptr<const Plan> plan = std::move(owned);
    for (const CacheState cache : states_of(contest.layer, options.caches)) {
      Rival rival = rival_of(contest, backend, plan, cache, each);
      take_up(rival);
      if (const auto culprit = culprits.find(rival.row.name()); culprit != culprits.end())
        rival.exclude(culprit->second);
      if (!options.accept || options.accept(rival.row.name())) contest.rivals.push_back(std::move(rival));
    }
  }
}

void Roster::recall(Contest& contest, std::span<const Measurement> rows) const {
  std::vector<const Measurement*> chosen, for_work;
  for (const CacheState cache : states_of(contest.layer, place_.options().caches)) {
    const Measurement *fastest = nullptr, *least = nullptr;
    bool quiet = false;
    for (const auto& row : rows) {
      const bool counts = !row.excluded && row.p10.value > 0 && row.threads <= thread_counts_.back();
      if (row.cache != cache || !counts) continue;
      // Others can only have slowed a plan down: one that was the fastest nevertheless is.
      quiet = quiet || !row.contended;
      const auto rank = [](const Measurement& m, bool work) {
        const Seconds counted = without_launch(m, m.p10);
        return std::tuple(counted.value * (work ? m.threads : 1), m.p10.value, m.name());
      };
      if (fastest == nullptr || rank(row, false) < rank(*fastest, false)) fastest = &row;
      if (least == nullptr || rank(row, true) < rank(*least, true)) least = &row;
    }
    if (!quiet) return;  // was not measured in this state, or never well
    chosen.push_back(fastest);
    if (least == fastest || cache != CacheState::hot) continue;
    chosen.push_back(least);
    for_work.push_back(least);
  }
  Contest found = {.layer = contest.layer, .signature = contest.signature, .operands = contest.operands};
  for (const Measurement* row : chosen) {
    const auto same = [&](const Rival& rival) {
      return rival.row.backend == row->backend && rival.row.algorithm == row->algorithm &&
             rival.row.cache == row->cache;
    };
    auto rival = std::find_if(found.rivals.begin(), found.rivals.end(), same);
    if (rival == found.rivals.end()) {
      const auto backend =
          std::find_if(backends_.begin(), backends_.end(), [&](const auto& b) { return b->name() == row->backend; });
      if (backend == backends_.end()) return;
      add_plans(found, **backend, row->threads);
      rival = std::find_if(found.rivals.begin(), found.rivals.end(), same);
    }
    if (rival == found.rivals.end() || !rival->competes()) return;  // the plan is no longer there: selected again
    rival->row.calls_per_sample = std::max<std::int64_t>(1, row->calls_per_sample);
    rival->row.difference = row->difference;
    rival->row.p10 = row->p10;
    rival->row.launch = row->launch;
    rival->chosen = true;
    rival->seldom = std::find(for_work.begin(), for_work.end(), row) != for_work.end();
  }
  for (auto& rival : found.rivals)
    if (rival.chosen) contest.rivals.push_back(std::move(rival));
  contest.known = !chosen.empty();
}

std::vector<Contest> Roster::enlist(std::span<const Wanted> wanted) const {
  std::vector<Contest> contests;
  for (const auto& entry : wanted)
    contests.push_back({.layer = entry.layer,
                        .signature = LayerSignature(entry.layer).text(),
                        .operands = operands(entry.layer),
                        .weight = entry.weight});
  for (std::size_t i = 0; i < wanted.size(); ++i) recall(contests[i], wanted[i].known);
  return contests;
}

void Roster::find_rivals(Contest& contest) const {
  for (const auto& backend : backends_) {
    const auto availability = backend->availability();
    if (const auto* unsupported = std::get_if<Unsupported>(&availability)) {
      add_row(contest, *backend, 1, unsupported->reason, place_.options());
      continue;
    }
    for (const int threads : thread_counts_) add_plans(contest, *backend, threads);
  }
}

}  // namespace benanza::bench
