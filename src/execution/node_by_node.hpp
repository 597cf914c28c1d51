// SPDX-License-Identifier: Apache-2.0
// execute_node_by_node: the witness of a model in which data decides what is called or how large it is. No sequence of
// calls can be such a model: its Program executes it, each node by the plan of its fastest row.
#pragma once

#include "call_plans.hpp"
#include "team_sentinel.hpp"
#include <benanza/bounds/witness.hpp>
#include <benanza/execution/make_witness.hpp>
#include <benanza/model/graph.hpp>

namespace benanza::execution {

/// Executes for about `options.budget`, after one execution in which the outputs of plans are compared with the
/// reference on the same inputs. Throws NotExecutable and InputError.
[[nodiscard]] Witness execute_node_by_node(Graph graph, const CallPlans& plans, const WitnessOptions& options,
                                           TeamSentinel& sentinel);

}  // namespace benanza::execution
