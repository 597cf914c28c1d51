// SPDX-License-Identifier: Apache-2.0
// execute_node_by_node: the witness of a model in which data decides what is called or how large it is. Such a model
// cannot be a sequence of calls. Its Program executes it, each node with the plan of its fastest row.
#pragma once

#include "call_plans.hpp"
#include "make_witness.hpp"
#include "team_sentinel.hpp"
#include <benanza/bounds/witness.hpp>
#include <benanza/model/graph.hpp>

namespace benanza::execution {

/// Executes for about `options.budget`. Before that, one execution compares the outputs of plans with the reference on
/// the same inputs. Throws NotExecutable and InputError.
[[nodiscard]] Witness execute_node_by_node(Graph graph, const CallPlans& plans, const WitnessOptions& options,
                                           TeamSentinel& sentinel);

}  // namespace benanza::execution
