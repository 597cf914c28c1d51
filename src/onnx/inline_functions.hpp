// SPDX-License-Identifier: Apache-2.0
// Replaces calls of a model's own functions by the nodes of the functions.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>

namespace benanza::importer {

/// Throws InputError if a function calls itself.
void check_functions(onnx::ModelProto& model);

/// Inlines all functions and removes them from the model. An attribute that a call leaves out has the function's
/// default. A node whose function imports another version of its operator set than the model keeps that version
/// (`own_version`). Throws InputError if the model grows by more than a multiple of its size.
void inline_functions(onnx::ModelProto& model);

/// The version of its operator set that an inlined node was written for; empty if it is that of the model.
[[nodiscard]] std::optional<int> own_version(const onnx::NodeProto& node);
void set_own_version(onnx::NodeProto& node, std::int64_t version);

}  // namespace benanza::importer
