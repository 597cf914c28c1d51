// SPDX-License-Identifier: Apache-2.0
#include "candidate_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace benanza::measure {

namespace {

/// The algorithm without its last key, the threads.
std::string_view without_threads(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(",threads="));
}

/// Whether a library's own name for a plan shows that it is fallback code, or code for processors before AVX2. Such
/// plans are tried last, in case time runs out.
bool is_last_resort(const Measurement& row) {
  constexpr std::array<std::string_view, 5> parts{"simple", ":any", ":sse41", ":avx,", "gemm:ref"};
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return row.algorithm.find(part) != std::string::npos; });
}

/// Whether a library's own name for a plan shows that it saves multiplications. On large layers, such a plan often
/// takes half as long as the best direct one.
bool saves_by_name(const Measurement& row) { return row.algorithm.find("winograd") != std::string::npos; }

}  // namespace

std::vector<Candidate*> best_first(TuningTask& task, CacheState cache, int threads, bool last_resorts,
                                   const sampling::Sampler& sampler, const RelatedTimes& related) {
  constexpr double nearly = 1.25;
  constexpr double untried = std::numeric_limits<double>::infinity();
  enum class Rank { fastest, promising, unknown, slower_before, slower };
  struct Turn {
    Rank rank;
    double before;   // its time where its plan was tried before
    int of_library;  // its place among the plans of its library; -1: ahead of all libraries' others
    Candidate* candidate;
  };
  const auto takes_part = [&](const Candidate& candidate) {
    return candidate.row.cache == cache && candidate.row.threads == threads && candidate.competes() &&
           is_last_resort(candidate.row) == last_resorts;
  };
  const std::string shared_signature = RelatedTimes::shared_signature(task.layer);
  const auto time_before = [&](const Candidate& candidate) {
    double before = untried;
    for (const auto& other : task.candidates) {
      const bool same_plan = other.row.backend == candidate.row.backend &&
                             without_threads(other.row.algorithm) == without_threads(candidate.row.algorithm);
      const bool tried_before = cache == CacheState::hot
                                    ? other.row.cache == cache && other.row.threads > threads
                                    : other.row.cache == CacheState::hot && other.row.threads == threads;
      if (!same_plan || !tried_before) continue;
      if (const auto time = standing(other, sampler)) before = std::min(before, time->value);
    }
    return before < untried ? before : related.of(shared_signature, candidate.row).value_or(Seconds{untried}).value;
  };
  std::vector<Turn> order;
  std::map<std::string_view, int> seen;   // number of plans per library
  std::set<std::string_view> has_saving;  // libraries with a plan that goes first
  double least_before = untried;
  Turn* fastest = nullptr;
  order.reserve(task.candidates.size());
  for (auto& candidate : task.candidates) {
    if (!takes_part(candidate)) continue;
    const double before = time_before(candidate);
    least_before = std::min(least_before, before);
    const std::string_view library = candidate.row.backend;
    const bool goes_first = saves_by_name(candidate.row) && has_saving.insert(library).second;
    order.push_back({Rank::slower, before, goes_first ? -1 : seen[library]++, &candidate});
    if (candidate.row.samples > 0 &&
        (fastest == nullptr || candidate.row.times->p10 < fastest->candidate->row.times->p10))
      fastest = &order.back();
  }
  for (auto& turn : order) {
    if (&turn == fastest) turn.rank = Rank::fastest;
    else if (turn.candidate->row.samples > 0) turn.rank = Rank::slower;
    else if (turn.before == untried) turn.rank = Rank::unknown;
    else turn.rank = turn.before <= nearly * least_before ? Rank::promising : Rank::slower_before;
  }
  std::stable_sort(order.begin(), order.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.rank, a.before, a.of_library) < std::tie(b.rank, b.before, b.of_library);
  });
  std::vector<Candidate*> result;
  for (const auto& turn : order) result.push_back(turn.candidate);
  return result;
}

const Candidate* lost_with_more_threads(const TuningTask& task, const Candidate& candidate) {
  constexpr Seconds long_enough{1e-3};  // short calls may be fastest at any thread count
  for (const auto& other : task.candidates)
    if (other.row.threads > candidate.row.threads && other.row.cache == candidate.row.cache && other.plan == nullptr &&
        other.row.backend == candidate.row.backend && other.first_call > long_enough &&
        without_threads(other.row.algorithm) == without_threads(candidate.row.algorithm))
      return &other;
  return nullptr;
}

}  // namespace benanza::measure
