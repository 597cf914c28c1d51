// SPDX-License-Identifier: Apache-2.0
// Query: a request to an operator's loops.
#pragma once

#include "plan/const_tensor.hpp"
#include "reference.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace benanza::reference {

/// Inputs with their shapes, and the requested elements of one output.
struct Query {
  std::vector<ConstTensor> inputs{};
  std::size_t output = 0;
  std::span<const std::int64_t> indices{};
  const Parameters& parameters;

  [[nodiscard]] const ConstTensor& input(std::size_t i) const { return inputs[i]; }
  [[nodiscard]] std::size_t size() const { return indices.size(); }

  /// `value(flat index)` for each requested element.
  template <class Value>
  [[nodiscard]] std::vector<double> map(Value value) const {
    std::vector<double> result(size());
    std::transform(indices.begin(), indices.end(), result.begin(), value);
    return result;
  }

  /// Visits requested elements with the same `key(flat index)` together. Calls `body(key, positions)`, with positions
  /// in `indices`.
  template <class Key, class Body>
  void for_each_group(Key key, Body body) const {
    std::vector<std::pair<std::int64_t, std::size_t>> keyed;
    for (std::size_t i = 0; i < size(); ++i) keyed.emplace_back(key(indices[i]), i);
    std::sort(keyed.begin(), keyed.end());
    std::vector<std::size_t> positions;
    for (std::size_t begin = 0; begin < keyed.size();) {
      positions.clear();
      std::size_t end = begin;
      for (; end < keyed.size() && keyed[end].first == keyed[begin].first; ++end)
        positions.push_back(keyed[end].second);
      body(keyed[begin].first, std::span<const std::size_t>(positions));
      begin = end;
    }
  }
};

}  // namespace benanza::reference
