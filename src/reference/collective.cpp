// SPDX-License-Identifier: Apache-2.0
// Collectives, as seen by the first rank. Rank r holds the first one's elements, rotated by r places (accompanied.hpp).
#include "evaluate.hpp"

namespace benanza::reference {

namespace {

double sum_of_ranks(const Query& query, std::int64_t i, std::int64_t n, std::int64_t ranks) {
  double sum = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) sum += query.input(0)[(i + rank) % n];
  return sum;
}

}  // namespace

Elements compute(const op::AllReduce& exchange, const Query& query) {
  return query.map([&](std::int64_t i) { return sum_of_ranks(query, i, exchange.n, exchange.ranks); });
}

Elements compute(const op::ReduceScatter& exchange, const Query& query) {
  return query.map([&](std::int64_t i) { return sum_of_ranks(query, i, exchange.n, exchange.ranks); });
}

Elements compute(const op::AllGather& exchange, const Query& query) {
  const std::int64_t part = exchange.elements_in();
  return query.map([&](std::int64_t i) { return query.input(0)[(i % part + i / part) % part]; });
}

}  // namespace benanza::reference
