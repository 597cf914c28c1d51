// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <benanza/layer_signature.hpp>

#include <algorithm>
#include <tuple>

namespace benanza::bench {

namespace {

/// Roughly how much a layer matters, before anything is measured: if the budget ends early, the small ones are missing.
double importance(const Contest& contest) {
  const Cost layer_cost = cost(contest.layer);
  return contest.weight * (layer_cost.flops.value / 50 + layer_cost.bytes().value / 10);
}

void add_row(Contest& contest, const Backend& backend, int threads, std::string reason, const MeasureOptions& options) {
  Rival rival{.backend = &backend};
  rival.row = {.backend = std::string(backend.name()),
               .algorithm = "none,threads=" + std::to_string(threads),
               .signature = contest.signature,
               .threads = threads,
               .excluded = std::move(reason)};
  if (options.accept && !options.accept(rival.row.name())) return;
  contest.rivals.push_back(std::move(rival));
}

Rival rival_of(const Contest& contest, const Backend& backend, std::unique_ptr<Plan> plan, Seconds preparation) {
  Rival rival{.backend = &backend};
  rival.row = {.backend = std::string(backend.name()),
               .algorithm = plan->algorithm(),
               .signature = contest.signature,
               .threads = plan->threads(),
               .preparation = preparation,
               .workspace_bytes = static_cast<std::int64_t>(plan->workspace_bytes()),
               .saves_multiplications = plan->saves_multiplications()};
  rival.plan = std::move(plan);
  return rival;
}

}  // namespace

std::vector<int> thread_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

Seconds sample_cost(const Rival& rival, const Sampler& sampler) {
  const auto time = standing(rival, sampler);
  if (!time) return {};
  return *time * static_cast<double>(rival.row.calls_per_sample) * 2.5 + Seconds{200e-6};
}

Seconds round_cost(std::span<const Contest> contests, const Sampler& sampler) {
  Seconds cost{};
  for (const auto& contest : contests)
    for (const auto& rival : contest.rivals)
      if (rival.chosen && rival.competes()) cost += sample_cost(rival, sampler);
  return cost;
}

void Selection::add_plans(Contest& contest, const Backend& backend, int threads, std::string_view algorithm) const {
  std::variant<Plans, Unsupported> answer;
  const Seconds start = place_.host().now();
  try {
    answer = backend.plans(contest.layer, threads);
  } catch (...) {
    add_row(contest, backend, threads, current_reason(), place_.options());
    return;
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&answer)) {
    const bool said = std::any_of(contest.rivals.begin(), contest.rivals.end(),
                                  [&](const Rival& rival) { return rival.backend == &backend; });
    if (!said) add_row(contest, backend, threads, unsupported->reason, place_.options());
    return;
  }
  auto& plans = std::get<Plans>(answer);
  const Seconds each = (place_.host().now() - start) / static_cast<double>(std::max<std::size_t>(1, plans.size()));
  const auto& accept = place_.options().accept;
  for (auto& plan : plans) {
    if (!algorithm.empty() && plan->algorithm() != algorithm) continue;
    Rival rival = rival_of(contest, backend, std::move(plan), each);
    if (!accept || accept(rival.row.name())) contest.rivals.push_back(std::move(rival));
  }
}

void Selection::recall(Contest& contest, std::span<const Measurement> rows) const {
  const Measurement *fastest = nullptr, *least = nullptr;
  for (const auto& row : rows) {
    if (row.excluded || row.contended || !(row.p10.value > 0) || row.threads > thread_counts_.back()) continue;
    const auto rank = [](const Measurement& m, bool work) {
      return std::tuple(m.p10.value * (work ? m.threads : 1), m.name());
    };
    if (fastest == nullptr || rank(row, false) < rank(*fastest, false)) fastest = &row;
    if (least == nullptr || rank(row, true) < rank(*least, true)) least = &row;
  }
  std::vector<const Measurement*> chosen;
  if (fastest != nullptr) chosen.push_back(fastest);
  if (least != fastest) chosen.push_back(least);
  for (const Measurement* row : chosen) {
    const auto backend =
        std::find_if(backends_.begin(), backends_.end(), [&](const auto& b) { return b->name() == row->backend; });
    if (backend == backends_.end()) break;
    add_plans(contest, **backend, row->threads, row->algorithm);
    if (contest.rivals.empty() || !contest.rivals.back().competes()) break;
    Rival& rival = contest.rivals.back();
    rival.row.calls_per_sample = std::max<std::int64_t>(1, row->calls_per_sample);
    rival.row.difference = row->difference;
    rival.row.p10 = row->p10;
    rival.chosen = true;
  }
  contest.known =
      !chosen.empty() && contest.rivals.size() == chosen.size() &&
      std::all_of(contest.rivals.begin(), contest.rivals.end(), [](const Rival& rival) { return rival.chosen; });
  if (!contest.known) contest.rivals.clear();  // a plan is no longer there: selected again
}

std::vector<Contest> Selection::enlist(std::span<const Wanted> wanted) const {
  std::vector<Contest> contests;
  for (const auto& entry : wanted)
    contests.push_back({.layer = entry.layer,
                        .signature = LayerSignature(entry.layer).text(),
                        .operands = operands(entry.layer),
                        .weight = entry.weight});
  for (std::size_t i = 0; i < wanted.size(); ++i) recall(contests[i], wanted[i].known);
  return contests;
}

void Selection::find_rivals(Contest& contest) const {
  for (const auto& backend : backends_) {
    const auto availability = backend->availability();
    if (const auto* unsupported = std::get_if<Unsupported>(&availability)) {
      add_row(contest, *backend, 1, unsupported->reason, place_.options());
      continue;
    }
    for (const int threads : thread_counts_) add_plans(contest, *backend, threads);
  }
}

void Selection::admit(Contest& contest) {
  find_rivals(contest);
  if (std::none_of(contest.rivals.begin(), contest.rivals.end(), [](const Rival& rival) { return rival.competes(); }))
    return;

  std::vector<Expected> expected;
  try {
    expected = place_.expected(contest);
  } catch (...) {
    const std::string reason = "cannot be checked against the reference: " + current_reason();
    for (auto& rival : contest.rivals)
      if (rival.competes()) rival.exclude(reason);
    return;
  }
  for (auto& rival : contest.rivals)
    if (rival.competes()) try_out(contest, rival, expected);
  drop_losers(contest, first_margin, place_.sampler());
}

void Selection::try_out(Contest& contest, Rival& rival, const std::vector<Expected>& expected) {
  Sampler& sampler = place_.sampler();
  try {
    const Seconds start = place_.host().now();
    static_cast<void>(place_.work(contest, rival, false));  // packs constants
    rival.row.preparation += place_.host().now() - start;
    const Work work = place_.work(contest, rival, true);
    sampler.switch_to(work);
    place_.check(contest, rival, work, expected);
    if (!rival.competes()) return;
    const auto [sample, calls] = sampler.first_sample();
    rival.samples.push_back(sample);
    rival.row.calls_per_sample = calls;
    rival.visits = 1;
    for (int i = 0; i < retries && !sampler.quiet(rival.samples.back()); ++i)
      rival.samples.push_back(sampler.sample(calls));
  } catch (...) {
    rival.exclude(current_reason());
  }
}

void Selection::take(Rival& rival, int samples, Seconds until) {
  Sampler& sampler = place_.sampler();
  for (int tries = 0, good = 0; good < samples && tries < samples + retries && !(tries > 0 && place_.over(until));
       ++tries) {
    rival.samples.push_back(sampler.sample(rival.row.calls_per_sample));
    if (sampler.quiet(rival.samples.back())) ++good;
  }
}

void Selection::visit(Contest& contest, int samples, Seconds until) {
  const int blocks = samples >= 4 ? 2 : 1;
  for (int block = 0; block < blocks; ++block) {
    for (auto& rival : contest.rivals) {
      if (!rival.competes() || place_.over(until)) continue;
      try {
        const Work work = place_.work(contest, rival, false);
        place_.sampler().switch_to(work);
        take(rival, samples / blocks, until);
        if (block == 0) ++rival.visits;
      } catch (...) {
        rival.exclude(current_reason());
      }
    }
  }
  drop_losers(contest, later_margin, place_.sampler());
}

bool Selection::decided(const Contest& contest) {
  return std::count_if(contest.rivals.begin(), contest.rivals.end(),
                       [](const Rival& rival) { return rival.competes(); }) < 2;
}

Seconds Selection::estimate(const Contest& contest) const {
  Seconds total{};
  for (const auto& rival : contest.rivals)
    if (rival.competes()) total += sample_cost(rival, place_.sampler());
  return total;
}

Seconds Selection::end_of_visits(std::vector<Contest>& contests, std::span<Contest* const> open, Seconds until) {
  Seconds once{};
  for (auto* contest : open) {
    choose(*contest, place_.sampler());
    if (!decided(*contest)) once += estimate(*contest);
  }
  const Seconds rounds = round_cost(contests, place_.sampler()) * static_cast<double>(rounds_to_come);
  const Seconds least = place_.elapsed() + once * (visits - 1);
  return std::min(until, std::max(least, place_.options().budget - rounds));
}

void Selection::run(std::vector<Contest>& contests, Seconds until) {
  std::vector<Contest*> open;
  for (auto& contest : contests)
    if (!contest.known && !is_free(contest.layer)) open.push_back(&contest);
  std::stable_sort(open.begin(), open.end(),
                   [](const Contest* a, const Contest* b) { return importance(*a) > importance(*b); });

  const std::size_t total = open.size() * static_cast<std::size_t>(visits);
  std::size_t done = 0;
  for (auto* contest : open) {
    if (place_.over(until)) break;
    place_.report("select", done++, total, place_.remaining(), contest->signature);
    admit(*contest);
  }
  until = end_of_visits(contests, open, until);
  for (int v = 1; v < visits; ++v) {
    Seconds once{};
    for (const auto* contest : open)
      if (!decided(*contest)) once += estimate(*contest);
    const Seconds slot = (until - place_.elapsed()) / static_cast<double>(visits - v);
    const int samples = once.value > 0 ? static_cast<int>(std::clamp(slot / once, 1.0, 2.0 * most_samples)) : 1;
    for (auto* contest : open) {
      if (place_.over(until)) break;
      place_.report("select", done++, total, place_.remaining(), contest->signature);
      if (!decided(*contest)) visit(*contest, samples, until);
    }
  }
  for (auto* contest : open) choose(*contest, place_.sampler());
}

}  // namespace benanza::bench
