// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

namespace benanza::reference {

Elements compute(const op::CumSum& cum_sum, const Query& query) {
  const std::int64_t length = cum_sum.x[1], inner = cum_sum.x[2];
  return query.map([&](std::int64_t flat) {
    double sum = 0;
    for (std::int64_t before = flat / inner % length; before >= 0; --before)
      sum += query.input(0)[flat - before * inner];
    return sum;
  });
}

}  // namespace benanza::reference
