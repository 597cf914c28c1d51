// SPDX-License-Identifier: Apache-2.0
// set_times: the whole-execution times of a witness.
#pragma once

#include <benanza/base/detail/confidence_interval.hpp>
#include <benanza/base/detail/quantile.hpp>
#include <benanza/bounds/witness.hpp>

#include <cstddef>
#include <limits>
#include <vector>

namespace benanza::execution {

/// Sets percentiles, the interval, and the number of executions that count. `whole` has the times in the order of the
/// executions; each turn has `in_one_turn` of them, and `counted` says which turns count.
inline void set_times(Witness& witness, std::vector<double> whole, const std::vector<bool>& counted,
                      std::size_t in_one_turn) {
  witness.discarded = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (counted[i / in_one_turn]) continue;
    whole[i] = std::numeric_limits<double>::quiet_NaN();
    ++witness.discarded;
  }
  witness.executions = whole.size() - witness.discarded;
  witness.p10 = {detail::quantile(whole, 0.1)};
  witness.median = {detail::quantile(whole, 0.5)};
  witness.uncertainty = detail::half_interval(whole, 0.1, detail::round_groups(whole.size())) / witness.p10.value;
}

}  // namespace benanza::execution
