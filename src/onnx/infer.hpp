// SPDX-License-Identifier: Apache-2.0
// Asks the ONNX library's shape rule about one node.
#pragma once

#include "frame.hpp"
#include <benanza/model/graph.hpp>

#include <onnx/defs/schema.h>

#include <span>
#include <vector>

namespace benanza::importer {

/// Types of the node's outputs as the schema's rule says, with the literals of its inputs available; a type without a
/// value where it says nothing. Throws what the rule throws when the inputs contradict it.
[[nodiscard]] std::vector<onnx::TypeProto> infer_types(const onnx::OpSchema& schema, const onnx::NodeProto& node,
                                                       Frame& frame, std::span<const std::optional<ValueId>> inputs);

}  // namespace benanza::importer
