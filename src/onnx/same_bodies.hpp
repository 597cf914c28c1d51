// SPDX-License-Identifier: Apache-2.0
// When two nodes of control flow do the same: equal bodies, whatever these call their own values, that read the same
// values around them.
#pragma once

#include <benanza/model/graph.hpp>

#include <onnx/onnx_pb.h>

#include <functional>
#include <optional>
#include <string>

namespace benanza::importer {

/// Equal for equal integers and equal scalars of one type and shape; nothing for a weight or for what is not constant.
[[nodiscard]] std::optional<std::string> constant_key(const Value& value);

/// Whether the nodes in the bodies of two nodes have the same operators and attributes, one by one. False if import has
/// left out numbers of an attribute, or if an operator other than If, Loop and Scan has a graph.
[[nodiscard]] bool written_alike(const onnx::NodeProto& a, const onnx::NodeProto& b);

/// Whether two values of the graph around are one.
using SameValues = std::function<bool(ValueId, ValueId)>;

/// Whether the bodies of two nodes that are written alike have the same values in the same places. Weights that bodies
/// hold are not equal for holding the same numbers.
[[nodiscard]] bool same_bodies(const Node& a, const Node& b, const SameValues& same_around);

}  // namespace benanza::importer
