// SPDX-License-Identifier: Apache-2.0
#include "selection.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace benanza::bench {

namespace {

/// Roughly what one call takes, before anything is measured.
Seconds guess(const Contest& contest) {
  const Cost layer_cost = cost(contest.layer);
  return {layer_cost.flops.value / 50e9 + layer_cost.bytes().value / 10e9};
}

/// Its part in the time for first visits: its calls, and what each of its plans takes beside calls.
Seconds claim(const Contest& contest) { return guess(contest) + Seconds{2.5e-3}; }

/// If the session is cancelled, the layers that matter least are missing.
double importance(const Contest& contest) { return contest.weight * guess(contest).value; }

/// The algorithm without its last key, the threads.
std::string_view without_threads(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(",threads="));
}

/// The rival of the same plan with everything in the caches, if that was asked for.
const Rival* hotter(const Contest& contest, const Rival& rival) {
  const auto found = std::find_if(contest.rivals.begin(), contest.rivals.end(), [&](const Rival& other) {
    return other.row.cache == CacheState::hot && other.row.backend == rival.row.backend &&
           other.row.algorithm == rival.row.algorithm;
  });
  return found == contest.rivals.end() ? nullptr : &*found;
}

/// Whether a library's own name for a plan says that it is the code for what nothing better fits, or for processors
/// before AVX2: tried last, in case that time runs out.
bool is_last_resort(const Measurement& row) {
  constexpr std::array<std::string_view, 5> parts{"simple", ":any", ":sse41", ":avx,", "gemm:ref"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return row.algorithm.find(part) != std::string::npos; });
}

/// The reason of one where others were tried.
constexpr std::string_view no_time_for_last_resort =
    "not tried: a last resort by its name, and the budget gave this layer no more time";

/// The rivals of a cache state and thread count, last resorts or others, those first whose plan was the fastest where
/// it was tried before: with more threads, or with everything in the caches. Of others the first of each library, then
/// the second of each: one that offers many plans does not keep the only one of another from being tried. Of those that
/// an earlier try of the session knows, the fastest goes first and the others last: time is for the untried ones.
std::vector<Rival*> best_first(Contest& contest, CacheState cache, int threads, bool last_resorts,
                               const Sampler& sampler) {
  enum class Known { fastest, untried, slower };
  struct Turn {
    Known known;
    double before;  // its time where it was tried before
    int of_library;
    Rival* rival;
  };
  std::vector<Turn> order;
  std::map<std::string_view, int> seen;  // plans of a library
  const auto takes_part = [&](const Rival& rival) {
    return rival.row.cache == cache && rival.row.threads == threads && rival.competes() &&
           is_last_resort(rival.row) == last_resorts;
  };
  const Rival* fastest = nullptr;
  for (const auto& rival : contest.rivals)
    if (takes_part(rival) && rival.row.samples > 0 && (fastest == nullptr || rival.row.p10 < fastest->row.p10))
      fastest = &rival;
  for (auto& rival : contest.rivals) {
    if (!takes_part(rival)) continue;
    double before = std::numeric_limits<double>::infinity();
    for (const auto& other : contest.rivals) {
      const bool same_plan = other.row.backend == rival.row.backend &&
                             without_threads(other.row.algorithm) == without_threads(rival.row.algorithm);
      const bool tried_before = cache == CacheState::hot
                                    ? other.row.cache == cache && other.row.threads > threads
                                    : other.row.cache == CacheState::hot && other.row.threads == threads;
      if (!same_plan || !tried_before) continue;
      if (const auto time = standing(other, sampler)) before = std::min(before, time->value);
    }
    const Known known = &rival == fastest ? Known::fastest : rival.row.samples == 0 ? Known::untried : Known::slower;
    order.push_back({known, before, seen[rival.row.backend]++, &rival});
  }
  std::stable_sort(order.begin(), order.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.known, a.before, a.of_library) < std::tie(b.known, b.before, b.of_library);
  });
  std::vector<Rival*> result;
  for (const auto& turn : order) result.push_back(turn.rival);
  return result;
}

/// The same algorithm with more threads, if it was tried there, takes long, and was a clear loser.
const Rival* lost_with_more_threads(const Contest& contest, const Rival& rival) {
  constexpr Seconds long_enough{1e-3};  // of short calls any thread count may be the best
  for (const auto& other : contest.rivals)
    if (other.row.threads > rival.row.threads && other.row.cache == rival.row.cache && other.plan == nullptr &&
        other.row.backend == rival.row.backend && other.first_call > long_enough &&
        without_threads(other.row.algorithm) == without_threads(rival.row.algorithm))
      return &other;
  return nullptr;
}

}  // namespace

Seconds sample_cost(const Rival& rival, const Sampler& sampler) {
  const auto time = standing(rival, sampler);
  if (!time) return {};
  const double windows = *time >= Sampler::long_call ? 1.2 : 2.5;
  return *time * static_cast<double>(rival.row.calls_per_sample) * windows + Seconds{200e-6};
}

Seconds round_cost(std::span<const Contest> contests, const Sampler& sampler) {
  Seconds cost{};
  for (const auto& contest : contests)
    for (const auto& rival : contest.rivals)
      if (rival.chosen && rival.competes())
        cost += sample_cost(rival, sampler) * (rival.seldom ? 1.0 / Selection::seldom_rounds : 1.0);
  return cost;
}

void Selection::admit(Contest& contest, Seconds until) {
  roster_.find_rivals(contest);
  drop_losers(contest, first_margin, place_.sampler());  // by what an earlier try of the session knows
  if (std::none_of(contest.rivals.begin(), contest.rivals.end(), [](const Rival& rival) { return rival.competes(); }))
    return;

  std::vector<Expected> expected;
  try {
    expected = place_.expected(contest);
  } catch (...) {
    const std::string reason = "cannot be checked against the reference: " + place_.reason();
    for (auto& rival : contest.rivals)
      if (rival.competes()) rival.exclude(reason);
    return;
  }
  std::set<std::pair<CacheState, int>> tried;  // one is tried in any case
  for (const bool last_resorts : {false, true}) {
    const std::string_view reason = last_resorts && !tried.empty() ? no_time_for_last_resort : out_of_time;
    for (const CacheState cache : cache_states) {
      // Most threads first: what is slow there need not be tried with fewer.
      for (auto threads = roster_.thread_counts().rbegin(); threads != roster_.thread_counts().rend(); ++threads) {
        for (Rival* rival : best_first(contest, cache, *threads, last_resorts, place_.sampler())) {
          if (tried.count({cache, *threads}) > 0 && place_.over(until)) {
            const Rival* hot = cache == CacheState::hot ? nullptr : hotter(contest, *rival);
            if (rival->row.samples > 0 || (hot != nullptr && hot->row.excluded))
              rival->plan.reset();  // its earlier row stands, or that of the plan in the caches says why
            else rival->exclude(std::string(reason));
            continue;
          }
          if (cache == CacheState::hot) try_out(contest, *rival, expected);
          else try_colder(contest, *rival, hotter(contest, *rival), expected);
          if (!rival->visits.empty()) tried.insert({cache, *threads});
        }
        drop_losers(contest, first_margin, place_.sampler());
      }
    }
  }
}

void Selection::try_out(Contest& contest, Rival& rival, const std::vector<Expected>& expected) {
  place_.trying(rival.row.name());
  try {
    if (const Rival* wider = lost_with_more_threads(contest, rival)) {
      rival.exclude(std::string(not_tried) + "a clear loser with " + std::to_string(wider->row.threads) + " threads");
      return;
    }
    const Seconds start = place_.host().now();
    static_cast<void>(place_.work(contest, rival, true));  // packs constants
    rival.row.preparation += place_.host().now() - start;
    Work work = place_.work(contest, rival, true);
    place_.sampler().switch_to(work);
    const Seconds first_call = place_.check(contest, rival, work, expected);
    if (!rival.competes()) return;
    rival.first_call = first_call;
    if (hopeless(contest, rival) && first_call < Sampler::long_call)  // threads may have slept, or another process ran
      rival.first_call = std::min(first_call, place_.once(work));
    if (const auto best = hopeless(contest, rival)) {
      char text[96];
      std::snprintf(text, sizeof text, "a clear loser after one call: %.3g ms, the best takes %.3g ms",
                    rival.first_call.value * 1e3, best->value * 1e3);
      rival.exclude(text);
      return;
    }
    first_samples(rival, rival.first_call);
  } catch (...) {
    rival.exclude(place_.reason());
  }
}

void Selection::try_colder(Contest& contest, Rival& rival, const Rival* hot, const std::vector<Expected>& expected) {
  place_.trying(rival.row.name());
  try {
    Seconds before{};
    if (hot == nullptr) {  // only this state is asked for
      Work work = place_.work(contest, rival, true);
      place_.sampler().switch_to(work);
      before = place_.check(contest, rival, work, expected);
      if (!rival.competes()) return;
    } else if (hot->row.excluded) {
      return rival.exclude(*hot->row.excluded);
    } else {
      const auto time = hot->competes() ? standing(*hot, place_.sampler()) : std::nullopt;
      if (!time || is_lost(contest, *hot)) return rival.plan.reset();
      rival.row.difference = hot->row.difference;
      before = *time;
    }
    Work work = place_.work(contest, rival, false);
    place_.sampler().switch_to(work);
    first_samples(rival, before);
  } catch (...) {
    rival.exclude(place_.reason());
  }
}

void Selection::first_samples(Rival& rival, Seconds expected) {
  Sampler& sampler = place_.sampler();
  const auto [sample, calls] = sampler.first_sample(expected);
  rival.visits.push_back(rival.samples.size());
  rival.samples.push_back(sample);
  rival.row.calls_per_sample = calls;
  const int most = expected >= Sampler::long_call ? 1 : retries;
  for (int i = 0; i < most && !sampler.quiet(rival.samples.back()); ++i)
    rival.samples.push_back(sampler.sample(calls, expected));
}

bool Selection::is_lost(const Contest& contest, const Rival& rival) const {
  const auto lost_by = [&](auto&& time_of) {
    Seconds best{std::numeric_limits<double>::infinity()};
    for (const auto& other : contest.rivals)
      if (other.row.cache == rival.row.cache && other.competes())
        if (const auto time = time_of(other, place_.sampler())) best = std::min(best, *time);
    return *time_of(rival, place_.sampler()) > best * first_margin;
  };
  return lost_by(standing) && lost_by(counted);
}

std::optional<Seconds> Selection::hopeless(const Contest& contest, const Rival& rival) const {
  constexpr Seconds first_of_all{5e-3};  // what a first call may take longer than others
  const Seconds time = rival.first_call - first_of_all;
  const double margin = rival.first_call >= Sampler::long_call ? later_margin : first_margin;
  std::optional<Seconds> best;
  Seconds least_work{std::numeric_limits<double>::infinity()};
  for (const auto& other : contest.rivals) {
    const auto standing_time = &other != &rival && other.row.cache == CacheState::hot && other.competes()
                                   ? standing(other, place_.sampler())
                                   : std::nullopt;
    if (!standing_time) continue;
    best = std::min(best.value_or(*standing_time), *standing_time);
    least_work = std::min(least_work, *standing_time * static_cast<double>(other.row.threads));
  }
  const bool slow = best && time > *best * margin;
  return slow && time * static_cast<double>(rival.row.threads) > least_work * margin ? best : std::nullopt;
}

void Selection::take(Rival& rival, int samples, Seconds until) {
  Sampler& sampler = place_.sampler();
  for (int tries = 0, good = 0; good < samples && tries < samples + retries && !(tries > 0 && place_.over(until));
       ++tries) {
    rival.samples.push_back(sampler.sample(rival.row.calls_per_sample, standing(rival, sampler).value_or(Seconds{})));
    if (sampler.quiet(rival.samples.back())) ++good;
  }
}

void Selection::visit(Contest& contest, int samples, Seconds until) {
  const int blocks = samples >= 4 ? 2 : 1;
  for (int block = 0; block < blocks; ++block) {
    for (auto& rival : contest.rivals) {
      const bool alone = contest.competitors(rival.row.cache) < 2;
      if (!rival.competes() || alone || place_.over(until)) continue;
      place_.trying(rival.row.name());
      try {
        Work work = place_.work(contest, rival, false);
        place_.sampler().switch_to(work);
        if (block == 0) rival.visits.push_back(rival.samples.size());
        take(rival, samples / blocks, until);
      } catch (...) {
        rival.exclude(place_.reason());
      }
    }
  }
  drop_losers(contest, later_margin, place_.sampler());
}

Seconds Selection::estimate(const Contest& contest) const {
  Seconds total{};
  for (const auto& rival : contest.rivals)
    if (rival.competes() && contest.competitors(rival.row.cache) > 1) total += sample_cost(rival, place_.sampler());
  return total;
}

Seconds Selection::end_of_visits(std::vector<Contest>& contests, std::span<Contest* const> open, Seconds until) {
  Seconds once{};
  for (auto* contest : open) {
    choose(*contest, place_.sampler());
    if (!contest->decided()) once += estimate(*contest);
  }
  const Seconds rounds = round_cost(contests, place_.sampler()) * static_cast<double>(rounds_to_come);
  const Seconds least = place_.elapsed() + once * static_cast<double>(visits - 1);
  return std::min(until, std::max(least, place_.options().budget - rounds));
}

void Selection::run(std::vector<Contest>& contests, Seconds until) {
  std::vector<Contest*> open;
  for (auto& contest : contests)
    if (!contest.known && !is_free(contest.layer)) open.push_back(&contest);
  std::stable_sort(open.begin(), open.end(),
                   [](const Contest* a, const Contest* b) { return importance(*a) > importance(*b); });

  const std::size_t total = open.size() * visits;
  std::size_t done = 0;
  // Each layer gets time in proportion to what its calls may take, and at least one plan, be it at the cost of rounds:
  // a layer without a row makes every total partial. What one leaves goes to those behind it.
  Seconds claims{};
  for (const auto* contest : open) claims += claim(*contest);
  for (auto* contest : open) {
    if (place_.over(place_.options().budget)) break;
    place_.report("select", done++, total, place_.remaining(), contest->signature);
    const Seconds left = std::max(Seconds{}, until - place_.elapsed());
    admit(*contest, place_.elapsed() + left * (claim(*contest) / claims));
    claims = claims - claim(*contest);
    place_.keep(contests);
  }
  until = end_of_visits(contests, open, until);
  for (std::size_t v = 1; v < visits; ++v) {
    Seconds once{};
    for (const auto* contest : open)
      if (!contest->decided()) once += estimate(*contest);
    const Seconds slot = (until - place_.elapsed()) / static_cast<double>(visits - v);
    const int samples = once.value > 0 ? static_cast<int>(std::clamp(slot / once, 1.0, 2.0 * most_samples)) : 1;
    for (auto* contest : open) {
      if (place_.over(until)) break;
      place_.report("select", done++, total, place_.remaining(), contest->signature);
      if (!contest->decided()) visit(*contest, samples, until);
      place_.keep(contests);
    }
  }
  for (auto* contest : open) choose(*contest, place_.sampler());
}

}  // namespace benanza::bench
