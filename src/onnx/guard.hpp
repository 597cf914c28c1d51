// SPDX-License-Identifier: Apache-2.0
// Refuses nodes that the ONNX library's shape rules do not check and would crash on.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/operators/facts.hpp>

#include <cstddef>
#include <span>

namespace benanza::importer {

/// Throws InputError if an attribute or a constant input that rules divide by, or use as a size, is out of range.
/// `outputs`: how many the node has.
void guard_node(const Node& node, const OperatorFacts& facts, std::span<const Value* const> inputs,
                std::size_t outputs);

}  // namespace benanza::importer
