// SPDX-License-Identifier: Apache-2.0
// ConstantOrigins: the constants from which another constant is computed before a request arrives.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::detail {

/// A constant from which another one is computed, and the share of it that is needed.
struct ConstantOrigin {
  ValueId value = 0;
  double share = 1;
  bool is_read = true;  ///< by a node that computes the other constant; otherwise the value alone names it
};

class ConstantOrigins {
 public:
  /// Sizes and axes do not count. Empty for a constant that the file stores.
  [[nodiscard]] std::optional<std::vector<ConstantOrigin>> of(const Graph& graph, ValueId id);

 private:
  using Maker = std::pair<std::size_t, std::size_t>;  // node, output
  std::map<const Graph*, std::map<ValueId, Maker>> makers_{};
};

}  // namespace benanza::detail

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/detail/constant_origins_inl.hpp>
#endif
