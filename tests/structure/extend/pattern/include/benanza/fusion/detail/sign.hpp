// SPDX-License-Identifier: Apache-2.0
// Signs that do not matter: the magnitude of a negated value is one call, abs.
#pragma once

#include <benanza/fusion/fuse.hpp>

namespace benanza::detail {

[[nodiscard]] inline std::optional<Match> match_sign(const LayerGraph& graph, std::size_t at) {
  const auto* neg = std::get_if<op::Unary>(&*graph.layers[at].layer);
  const auto next = only_consumer(graph, graph.layers[at].outputs[0]);
  if (!neg || neg->fn != ElementwiseFn::neg || !next) return std::nullopt;
  const auto* abs = std::get_if<op::Unary>(&*graph.layers[*next].layer);
  if (!abs || abs->fn != ElementwiseFn::abs) return std::nullopt;
  return Match{.members = {at, *next}, .pieces = {{.first = 0, .count = 2, .layer = *abs}}};
}

}  // namespace benanza::detail
