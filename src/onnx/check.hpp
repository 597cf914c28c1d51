// SPDX-License-Identifier: Apache-2.0
// What must hold of a model before it is walked.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace benanza::importer {

/// Brings the model into the form that the walk expects: nodes in topological order, local functions inlined, nothing
/// that the ONNX checker refuses. Returns what had to be assumed, each in a line. Throws InputError with the checker's
/// finding on one line, or naming a node on a cycle.
[[nodiscard]] std::vector<std::string> check_and_inline(onnx::ModelProto& model);

}  // namespace benanza::importer
