// SPDX-License-Identifier: Apache-2.0
// What layers of com.microsoft need of tables from which data choose rows: embeddings, quantised tables, experts.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/detail/live_rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::detail {

/// EmbedLayerNormalization: the norm (result 0) and the sum of a word, a position and a segment embedding (result 2)
/// for each token, and the length of each sequence from the mask (result 1). One row of each table is certain; of the
/// positions, one for each token if they are in order.
[[nodiscard]] inline LiveRule embeddings(const SizedNode& at) {
  constexpr std::size_t words = 2, positions = 3, segments = 4, mask = 7, position_ids = 8;
  return {.operand = [at](std::size_t k, std::size_t j, const Box& y) -> std::vector<Box> {
    const Dims& x = at.x(k);
    Box box = whole_box(x);
    if ((k == mask) != (j == 1)) return {};
    if (k == mask) {
      if (!box.empty() && x[0] == at.y(j)[0]) box[0] = y[0];
      return {box};
    }
    if (y.size() != 3 || x.empty()) return {box};
    if (k < words || k == position_ids) return {x.size() == 2 ? follow({0, 1}, x, at.y(j), y) : box};
    if (k > segments) {  // scales and biases of the norm
      if (j == 2) return {};
      box.back() = y[2];
      return {box};
    }
    const bool in_order = k == positions && !at.node.has_input(position_ids);
    box[0] = in_order ? common(box[0], y[1]) : Positions::run(0, std::min<std::int64_t>(x[0], 1));
    if (j == 2) box.back() = y[2];
    return {box};
  }};
}

/// Tables of com.microsoft's layers from which data choose rows. One row of a quantised table is certain, and as many
/// experts as each token takes.
[[nodiscard]] inline LiveRule certain_rows(const SizedNode& at) {
  return {.operand = [at](std::size_t k, std::size_t, const Box&) -> std::vector<Box> {
    const Dims& x = at.x(k);
    Box box = whole_box(x);
    if (at.facts.demand == Demand::table_row) {
      const auto axis = to_axis(at.node.attribute<std::int64_t>("gather_axis", 0), x.size());
      if (axis && k != 1) box[*axis] = Positions::run(0, std::min(x[*axis], std::int64_t{1}));
    } else if (k > 1 && x.size() > 1 && x[0] == at.x(1).back()) {
      box[0] = Positions::run(0, std::min(x[0], at.node.attribute<std::int64_t>("k", 1)));
    }
    return {box};
  }};
}

}  // namespace benanza::detail
