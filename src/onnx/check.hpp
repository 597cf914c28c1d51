// SPDX-License-Identifier: Apache-2.0
// Checks a model before it is traversed.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace benanza::importer {

/// Brings the model into the form that Builder expects: nodes in topological order, local functions inlined, nothing
/// that the ONNX checker refuses. Returns the assumptions that were made, one per line. Throws InputError with the
/// checker's finding on one line, or with the name of a node on a cycle.
[[nodiscard]] std::vector<std::string> check_and_inline(onnx::ModelProto& model);

}  // namespace benanza::importer
