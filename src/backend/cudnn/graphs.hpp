// SPDX-License-Identifier: Apache-2.0
// Plans of cuDNN's graph API: every engine configuration that heuristic modes A, B and fallback list for a layer, named
// by its tag (engine and knobs).
#pragma once

#include "library.hpp"
#include <benanza/plan/backend.hpp>

#include <memory>
#include <string>
#include <vector>

namespace benanza::cudnn {

[[nodiscard]] std::variant<Plans, Unsupported> graph_plans(const Layer& layer, std::shared_ptr<const Handle> handle);

/// What is listed, not built, for a device that is described as cuDNN describes one (its DEVICEPROP descriptor's JSON);
/// needs the library, 9.8 or later, and no device. A convolution's operands lie channels-last.
[[nodiscard]] std::vector<std::string> graph_plan_tags(const Layer& layer, const std::string& description);

}  // namespace benanza::cudnn
