// SPDX-License-Identifier: Apache-2.0
#include "tuning_session.hpp"

#include "rounds.hpp"
#include "sampling/thread_counts.hpp"

namespace benanza::measure {

std::vector<Measurement> run_tuning_session(sampling::Host& host, std::span<const Wanted> wanted, Backends backends,
                                            const MeasureOptions& options, int threads,
                                            std::vector<CeilingRow>* usual_memory) {
  constexpr double selection_share = 0.6;  // share of the time that is left; the rounds get the unused part
  Workplace place(host, options);
  const CandidateFinder finder(place, backends, sampling::thread_counts(threads, host.group_counts()));
  std::vector<TuningTask> tasks = finder.tasks(wanted);
  Tuner(place, finder).run(tasks, place.elapsed() + selection_share * place.remaining());
  Rounds(place).run(tasks);
  if (usual_memory != nullptr) *usual_memory = place.usual_memory();
  return finished_rows(tasks, place.sampler());
}

}  // namespace benanza::measure
