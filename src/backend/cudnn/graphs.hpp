// SPDX-License-Identifier: Apache-2.0
// Plans of cuDNN's graph API: every engine configuration that heuristic modes A, B and fallback list for a layer, named
// by its tag (engine and knobs). A configuration is finalised when its plan is built.
#pragma once

#include "candidates.hpp"

#include <string>
#include <vector>

namespace benanza::cudnn {

void add_graph_plans(const Layer& layer, Candidates& candidates);

/// What is listed, not built, for a device that is described as cuDNN describes one (its DEVICEPROP descriptor's JSON),
/// as names of algorithms; needs the library, 9.8 or later, and no device.
[[nodiscard]] std::vector<std::string> graph_plans_listed(const Layer& layer, const std::string& description);

}  // namespace benanza::cudnn
