// SPDX-License-Identifier: Apache-2.0
// From a form's plan to the graph that is shown of it.
#pragma once

#include "partition.hpp"
#include <benanza/bounds/timed_graph.hpp>

#include <span>

namespace benanza::analysis {

/// The form's graph at expected times. `rows`: of the whole analysis; each call names the one it is.
[[nodiscard]] TimedGraph timed_graph(const LayerGraph& graph, const FormPlan& plan, std::span<const LayerRow> rows,
                                     const CriticalPath& path, const CriticalPath& floor_path);

}  // namespace benanza::analysis
