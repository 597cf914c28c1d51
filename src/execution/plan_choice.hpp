// SPDX-License-Identifier: Apache-2.0
// choose_plans: a plan for each call of a model, chosen together: the sum of their rows' times, of changes of layout
// between them, and of changes from one library's threads to another's.
#pragma once

#include "sequence.hpp"

#include <functional>

namespace benanza::execution {

/// Which plans a choice may have.
using Allowed = std::function<bool(const CallPlan& plan)>;

/// Each call's fastest plan.
[[nodiscard]] PlanChoice fastest_plans(const ModelCalls& model);
/// A choice that no change of one plan makes better, from the fastest plans. Where no plan of a call is allowed, all
/// are.
[[nodiscard]] PlanChoice choose_plans(const Graph& graph, const ModelCalls& model, const Allowed& allowed);

}  // namespace benanza::execution
