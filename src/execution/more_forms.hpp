// SPDX-License-Identifier: Apache-2.0
// add_forms: what rows of a database cannot have, since no layer has it alone: calls that are not needed where tensors
// lie in the right place, and element-wise calls and reductions in whatever order their operands are.
#pragma once

#include "model_calls.hpp"

namespace benanza::execution {

/// Gives Concat, Split and Slice plans without a call, where their parts are one behind the other in memory, and
/// element-wise calls, reductions and transpositions plans in the orders that their neighbours have.
void add_forms(const Graph& graph, ModelCalls& model, const CallPlans& plans);

}  // namespace benanza::execution
