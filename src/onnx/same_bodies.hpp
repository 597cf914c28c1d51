// SPDX-License-Identifier: Apache-2.0
// Whether two nodes of control flow compute the same: equal bodies that read the same values of the enclosing graph,
// whatever the names of their own values.
#pragma once

#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <functional>
#include <optional>
#include <string>

namespace benanza::importer {

/// A key that is equal for equal integers and equal scalars of the same type and shape. Empty for weights and
/// non-constant values.
[[nodiscard]] std::optional<std::string> constant_key(const Value& value);

/// Whether the nodes in the bodies of two nodes have the same operators and attributes, one by one. False if the import
/// has left out numbers of an attribute, or if an operator other than If, Loop and Scan has a graph.
[[nodiscard]] bool written_alike(const onnx::NodeProto& a, const onnx::NodeProto& b);

/// Whether two values of the enclosing graph are the same.
using SameValues = std::function<bool(ValueId, ValueId)>;

/// Whether the bodies of two nodes for which `written_alike` holds have the same values in the same places. Weights in
/// bodies are not equal because of equal numbers.
[[nodiscard]] bool same_bodies(const Node& a, const Node& b, const SameValues& same_around);

}  // namespace benanza::importer
