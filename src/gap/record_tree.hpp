// SPDX-License-Identifier: Apache-2.0
// The tree of a profile's records: a record lies inside its parent.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace benanza {

inline constexpr std::size_t no_record = std::numeric_limits<std::size_t>::max();

/// By record, the nearest one above it (its parent, the parent of that ...) for which `is_it` holds; no_record if there
/// is none. Takes time in proportion to the records, however deep they nest.
template <class IsIt>
std::vector<std::size_t> nearest_above(const std::vector<ProfileRecord>& records, IsIt&& is_it) {
  std::vector<std::size_t> result(records.size(), no_record), path;
  std::vector<bool> known(records.size(), false);
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::size_t at = r, found = no_record;
    for (path.clear(); !known[at];) {
      known[at] = true;  // ends a cycle, too
      path.push_back(at);
      const auto above = records[at].parent;
      if (!above || *above >= records.size()) break;
      at = *above;
      if (is_it(at)) found = at;
      else if (known[at]) found = result[at];
      if (found != no_record) break;
    }
    for (const std::size_t each : path) result[each] = found;
  }
  return result;
}

}  // namespace benanza
