// SPDX-License-Identifier: Apache-2.0
// UntimedPlans: why layers lack a time, and which plans without one could be faster.
#pragma once

#include <benanza/bounds/detail/best_rows.hpp>
#include <benanza/results/measurement.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::detail {

class UntimedPlans {
 public:
  UntimedPlans() = default;
  /// Every signature lacks a time for `reason`.
  explicit UntimedPlans(std::string reason) : reason_of_all_(std::move(reason)) {}

  /// Rows of all sessions, in the order of the sessions.
  void add(const Measurement& row);

  /// Why a signature has no valid row; empty if no plan was ever tried.
  [[nodiscard]] std::string reason(const std::string& signature) const;
  /// Whether no library supports it: there are rows, but none of a plan, failed or not.
  [[nodiscard]] bool unsupported(const std::string& signature) const {
    return !reason(signature).empty() && !tried_.contains(signature);
  }
  /// The most threads with which a plan of it was tried; 0: none was tried.
  [[nodiscard]] int most_threads(const std::string& signature) const;
  /// How many plans of a signature, counted for each thread count and cache state, a budget left untried that might be
  /// the best.
  [[nodiscard]] std::int64_t untried(const std::string& signature) const;
  /// Plans of a signature that ended the process that tried them last (`RowStatus::ended`) and that may be its fastest:
  /// those without a time, or with a lower one than the best plan that has not ended.
  [[nodiscard]] std::vector<Measurement> ended(const std::string& signature, const BestRows* best) const;

 private:
  std::string reason_of_all_{};
  std::map<std::string, std::string> reasons_{};
  std::set<std::string> tried_{};  ///< signatures with a row of a plan that failed or was not timed
  std::map<std::string, int> most_threads_{};
  // Rows by name: one session may have had time for what another left out.
  std::map<std::string, std::set<std::string>> out_of_time_{};
  std::set<std::string> had_time_{};
  std::map<std::string, std::map<std::string, const Measurement*>> ended_{};
  std::map<std::string, Seconds> timed_{};  ///< the least p10 of any session
};

inline void UntimedPlans::add(const Measurement& row) {
  const std::string name = row.name();
  if (row.has_plan) {
    int& most = most_threads_[row.signature];
    most = std::max(most, row.threads);
  }
  if (row.status == RowStatus::out_of_time) out_of_time_[row.signature].insert(name);
  else if (was_tried(row.status)) had_time_.insert(name);
  if (row.status == RowStatus::ended) ended_[row.signature][name] = &row;
  else if (was_tried(row.status)) ended_[row.signature].erase(name);
  if (row.measured()) {
    const auto [least, is_first] = timed_.try_emplace(name, row.times->p10);
    if (!is_first) least->second = std::min(least->second, row.times->p10);
    return;
  }
  if (row.status != RowStatus::unsupported) tried_.insert(row.signature);
  std::string& reason = reasons_[row.signature];
  const bool is_said = reason.find(row.reason) != std::string::npos;
  if (reason.empty() || (row.backend != "reference" && !is_said)) reason += (reason.empty() ? "" : "; ") + row.reason;
}

inline std::string UntimedPlans::reason(const std::string& signature) const {
  const auto found = reasons_.find(signature);
  return found == reasons_.end() ? reason_of_all_ : found->second;
}

inline int UntimedPlans::most_threads(const std::string& signature) const {
  const auto found = most_threads_.find(signature);
  return found == most_threads_.end() ? 0 : found->second;
}

inline std::int64_t UntimedPlans::untried(const std::string& signature) const {
  const auto found = out_of_time_.find(signature);
  if (found == out_of_time_.end()) return 0;
  return std::count_if(found->second.begin(), found->second.end(),
                       [&](const std::string& name) { return !had_time_.contains(name); });
}

inline std::vector<Measurement> UntimedPlans::ended(const std::string& signature, const BestRows* best) const {
  std::vector<Measurement> result;
  const auto found = ended_.find(signature);
  if (found == ended_.end()) return result;
  for (const auto& [name, row] : found->second) {
    const auto timed = timed_.find(name);
    if (timed == timed_.end() || best == nullptr || timed->second < best->bound.fastest->times->p10)
      result.push_back(*row);
  }
  return result;
}

}  // namespace benanza::detail
