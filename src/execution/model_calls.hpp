// SPDX-License-Identifier: Apache-2.0
// ModelCalls: a model as a sequence of calls, with groups of nodes that one call computes.
#pragma once

#include "call_plans.hpp"
#include "group_call.hpp"

#include <map>
#include <vector>

namespace benanza::execution {

struct ModelCall {
  GroupCall group{};  ///< without operands if `plans` is empty
  /// The fastest first, followed by those of `add_forms`. If empty, the node runs by itself, on row-major tensors.
  std::vector<CallPlan> plans{};
  bool moved_in_place = false;  ///< the bound does not count it
};

struct ModelCalls {
  std::vector<ModelCall> calls{};
  std::map<ValueId, ValueId> views{};  ///< a value -> the value whose elements it has, in the same order
  [[nodiscard]] ValueId root(ValueId id) const {
    for (auto found = views.find(id); found != views.end(); found = views.find(id)) id = found->second;
    return id;
  }
};

/// `nodes`: the nodes that a run computes. Throws NotExecutable.
[[nodiscard]] ModelCalls make_model_calls(const Graph& graph, std::span<const std::size_t> nodes,
                                          const TensorStore& constants, CallPlans& plans);

}  // namespace benanza::execution
