// SPDX-License-Identifier: Apache-2.0
// Plans of cuDNN's graph API: every engine configuration that heuristic modes A, B and fallback list for a layer, named
// by its tag (engine and knobs). A configuration is finalised when its plan is built.
#pragma once

#include "candidates.hpp"

#include <string>
#include <vector>

namespace benanza::cudnn {

void add_graph_plans(const Layer& layer, Candidates& candidates);

/// The algorithm names of the plans listed, but not built, for a device described as cuDNN describes one (the JSON of
/// its DEVICEPROP descriptor). Needs the library, 9.8 or later, but no device.
[[nodiscard]] std::vector<std::string> graph_plans_listed(const Layer& layer, const std::string& description);

}  // namespace benanza::cudnn
