// SPDX-License-Identifier: Apache-2.0
// CandidateFinder: the candidates of a layer: every plan of every backend at every thread count in every cache state.
// For a layer that is in the database, only the plans that its rows chose.
#pragma once

#include "workplace.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::measure {

class CandidateFinder {
 public:
  /// `thread_counts` must be ascending.
  CandidateFinder(Workplace& place, Backends backends, std::vector<int> thread_counts);

  /// One task per wanted layer, in the same order. Layers with known rows get the plans that these rows choose.
  [[nodiscard]] std::vector<TuningTask> tasks(std::span<const Wanted> wanted) const;
  /// Asks every backend for its plans; a layer without a plan becomes a row.
  void find_candidates(TuningTask& task) const;
  [[nodiscard]] const std::vector<int>& thread_counts() const { return thread_counts_; }

 private:
  void add_plans(TuningTask& task, const Backend& backend, int threads) const;
  /// Gives a new candidate the results of an earlier try of the session.
  void take_earlier(Candidate& candidate) const;
  void take_known(TuningTask& task, std::span<const Measurement> rows) const;

  Workplace& place_;
  Backends backends_;
  std::vector<int> thread_counts_;
  std::map<std::string, const Measurement*> earlier_{};  ///< by row name
};

}  // namespace benanza::measure
