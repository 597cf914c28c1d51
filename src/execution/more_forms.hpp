// SPDX-License-Identifier: Apache-2.0
// add_forms: plans that rows of a database cannot have, since no layer alone has them. These are calls that are not
// needed because tensors are already in the right place, and element-wise calls and reductions in the order that their
// operands have.
#pragma once

#include "model_calls.hpp"

namespace benanza::execution {

/// Gives Concat, Split and Slice plans without a call if their parts are contiguous in memory. Gives element-wise
/// calls, reductions and transpositions plans in the orders that their neighbours have.
void add_forms(const Graph& graph, ModelCalls& model, const CallPlans& plans);

}  // namespace benanza::execution
