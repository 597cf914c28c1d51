// SPDX-License-Identifier: Apache-2.0
// What LiveElements computes, all of it at once.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/detail/live_elements.hpp>
#include <benanza/model/graph.hpp>

namespace benanza {

BENANZA_INLINE LiveElements::LiveElements(const Graph& graph) {
  learn(graph, nullptr, nullptr, 1);
  Values values = nothing(graph);
  for (const ValueId output : graph.outputs) need(graph, values, output);
  for (ValueId id = 0; graph.outputs.empty() && id < values.size(); ++id) need(graph, values, id);
  walk(graph, values);
}

}  // namespace benanza
