// SPDX-License-Identifier: Apache-2.0
// DamagedRows: the rows whose values cannot be true and of whose plans nothing else is known.
#pragma once

#include <benanza/results/measurement.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace benanza::detail {

/// Takes the rows of all sessions, from the first session to the last. A damaged row counts until another row has its
/// plan, or a later session has measured its layer.
class DamagedRows {
 public:
  void start_session() {
    for (auto& [signature, names] : current_) earlier_[signature].merge(names);
    current_.clear();
  }
  /// A row of the session that was started last.
  void add(const Measurement& row) {
    if (row.status == RowStatus::damaged) current_[row.signature].insert(row.name());
    else if (was_tried(row.status)) told_.insert(row.name());
    if (row.measured()) earlier_.erase(row.signature);
  }
  /// The names of the rows that matter.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto* rows : {&earlier_, &current_})
      for (const auto& [signature, names] : *rows)
        for (const auto& name : names)
          if (!told_.contains(name)) result.insert(name);
    return result;
  }

 private:
  std::map<std::string, std::set<std::string>> earlier_{}, current_{};  ///< names, by signature
  std::set<std::string> told_{};
};

}  // namespace benanza::detail
