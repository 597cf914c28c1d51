// SPDX-License-Identifier: Apache-2.0
// What the nodes of ONNX Runtime's profiles are, by their operators, providers and types.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

/// Whether nodes of this execution provider return before the device has done their work.
[[nodiscard]] bool is_asynchronous(std::string_view provider);

/// Whether an operator runs the nodes of a graph of its own.
[[nodiscard]] bool runs_subgraph(std::string_view op);

/// The node of the model that a profiled node's name leads to: the optimizer's own additions to it are taken off. Nodes
/// in blocked layout (`x_nchwc`) are named after the value that they compute. Empty for what the engine put in, and for
/// the name that an unnamed node got (`MatMul_1`, of index 1).
[[nodiscard]] std::string_view node_of_model(std::string_view name, std::string_view op, std::string_view index);

/// Type for the name in input_type_shape (DataTypeImpl::ToString without `tensor()`).
[[nodiscard]] std::optional<DataType> onnxruntime_type(std::string_view name);

/// What a node or kernel is, once for all its events.
struct NodeDescription {
  std::string name{}, op{}, provider{}, node{};
  bool kernel = false;
  std::vector<ProfiledTensor> inputs{}, outputs{};
};

[[nodiscard]] Activity activity_of(const NodeDescription& what);

}  // namespace benanza::profile
