// SPDX-License-Identifier: Apache-2.0
#include "candidate_order.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

namespace benanza::bench {

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

}  // namespace

std::vector<Candidate*> best_first(TuningTask& task, CacheState cache, int threads, bool last_resorts,
                                   const Sampler& sampler) {
  enum class Known { fastest, untried, slower };
  struct Turn {
    Known known;
    double before;  // its time where it was tried before
    int of_library;
    Candidate* candidate;
  };
  std::vector<Turn> order;
  std::map<std::string_view, int> seen;  // number of plans per library
  const auto takes_part = [&](const Candidate& candidate) {
    return candidate.row.cache == cache && candidate.row.threads == threads && candidate.competes() &&
           is_last_resort(candidate.row) == last_resorts;
  };
  const Candidate* fastest = nullptr;
  for (const auto& candidate : task.candidates)
    if (takes_part(candidate) && candidate.row.samples > 0 &&
        (fastest == nullptr || candidate.row.p10 < fastest->row.p10))
      fastest = &candidate;
  for (auto& candidate : task.candidates) {
    if (!takes_part(candidate)) continue;
    double before = std::numeric_limits<double>::infinity();
    for (const auto& other : task.candidates) {
      const bool same_plan = other.row.backend == candidate.row.backend &&
                             without_threads(other.row.algorithm) == without_threads(candidate.row.algorithm);
      const bool tried_before = cache == CacheState::hot
                                    ? other.row.cache == cache && other.row.threads > threads
                                    : other.row.cache == CacheState::hot && other.row.threads == threads;
      if (!same_plan || !tried_before) continue;
      if (const auto time = standing(other, sampler)) before = std::min(before, time->value);
    }
    const Known known = &candidate == fastest        ? Known::fastest
                        : candidate.row.samples == 0 ? Known::untried
                                                     : Known::slower;
    order.push_back({known, before, seen[candidate.row.backend]++, &candidate});
  }
  std::stable_sort(order.begin(), order.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.known, a.before, a.of_library) < std::tie(b.known, b.before, b.of_library);
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

}  // namespace benanza::bench
