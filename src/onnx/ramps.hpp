// SPDX-License-Identifier: Apache-2.0
// Constants of many evenly increasing integers: the indices to which a slice is assigned.
#pragma once

#include <benanza/model/graph.hpp>

#include <span>
#include <vector>

namespace benanza::importer {

/// The ramps of a constant that a node of ai.onnx computes from constants; none if it has other numbers, or few. `y`
/// has its type and dimensions.
[[nodiscard]] std::vector<Ramp> ramps_of_result(const Node& node, std::span<const Value* const> inputs, const Value& y);

}  // namespace benanza::importer
