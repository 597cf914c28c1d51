// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "rounds.hpp"

namespace benanza::bench {

std::vector<Measurement> run_session(Host& host, std::span<const Wanted> wanted, Backends backends,
                                     const MeasureOptions& options, int threads) {
  constexpr double selection_share = 0.6;  // of the time that is left; what it does not need goes to the rounds
  Workplace place(host, options);
  const Roster roster(place, backends, thread_counts(threads));
  std::vector<Contest> contests = roster.enlist(wanted);
  Selection(place, roster).run(contests, place.elapsed() + selection_share * place.remaining());
  Rounds(place).run(contests);
  return finished_rows(contests, place.sampler());
}

}  // namespace benanza::bench
