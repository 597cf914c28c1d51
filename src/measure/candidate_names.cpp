// SPDX-License-Identifier: Apache-2.0
#include "candidate_finder.hpp"
#include "sampling/this_host.hpp"
#include "sampling/thread_counts.hpp"

namespace benanza::measure {

std::vector<std::string> candidate_names(std::span<const Wanted> wanted, Backends backends,
                                         const MeasureOptions& options) {
  sampling::ThisHost host(options.threads);
  Workplace place(host, options);
  const int most_threads = machine_of(backends).is_device() ? 1 : static_cast<int>(host.cpus().size());
  const CandidateFinder finder(place, backends, sampling::thread_counts(most_threads, host.group_counts()));
  std::vector<std::string> names;
  for (const auto& entry : wanted) {
    auto tasks = finder.tasks(std::span(&entry, 1));
    finder.find_candidates(tasks.front());
    for (const auto& candidate : tasks.front().candidates)
      if (!options.accept || options.accept(candidate.row.name())) names.push_back(candidate.row.name());
  }
  return names;
}

}  // namespace benanza::measure
