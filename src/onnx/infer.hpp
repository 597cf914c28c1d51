// SPDX-License-Identifier: Apache-2.0
// Applies the ONNX library's shape rule to one node.
#pragma once

#include "frame.hpp"
#include <benanza/model/graph.hpp>

#include <onnx/defs/schema.h>

#include <span>
#include <vector>

namespace benanza::importer {

/// Types of the node's outputs according to the schema's rule, which can read the literals of its inputs. A type
/// without a value means that the rule does not determine it. Throws what the rule throws if the inputs contradict it.
[[nodiscard]] std::vector<onnx::TypeProto> infer_types(const onnx::OpSchema& schema, const onnx::NodeProto& node,
                                                       Frame& frame, std::span<const std::optional<ValueId>> inputs);

}  // namespace benanza::importer
