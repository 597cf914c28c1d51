// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that all hold the same elements, on the first of them.
#include "evaluate.hpp"

namespace benanza::reference {

Elements compute(const op::AllReduce& exchange, const Query& query) {
  return query.map([&](std::int64_t i) { return static_cast<double>(exchange.ranks) * query.input(0)[i]; });
}

Elements compute(const op::ReduceScatter& exchange, const Query& query) {
  return query.map([&](std::int64_t i) { return static_cast<double>(exchange.ranks) * query.input(0)[i]; });
}

Elements compute(const op::AllGather& exchange, const Query& query) {
  return query.map([&](std::int64_t i) { return query.input(0)[i % exchange.elements_in()]; });
}

}  // namespace benanza::reference
