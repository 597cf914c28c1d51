// SPDX-License-Identifier: Apache-2.0
// Classifies the nodes of ONNX Runtime's profiles by their operators, providers and types.
#pragma once

#include <benanza/profile/engine_profile.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

/// Whether nodes of this execution provider return before the device has finished their work.
[[nodiscard]] bool is_asynchronous(std::string_view provider);

/// Whether an operator runs the nodes of a graph of its own.
[[nodiscard]] bool runs_subgraph(std::string_view op);

/// The node of the model to which a profiled node's name leads: removes what the optimizer has appended. Nodes in
/// blocked layout (`x_nchwc`) are named after the value that they compute. Empty for nodes that the engine inserted,
/// and for the name given to an unnamed node (`MatMul_1`, of index 1).
[[nodiscard]] std::string_view node_of_model(std::string_view name, std::string_view op, std::string_view index);

/// Type for the name in input_type_shape (DataTypeImpl::ToString without `tensor()`).
[[nodiscard]] std::optional<DataType> onnxruntime_type(std::string_view name);

/// The description of a node or kernel, stored once for all its events.
struct NodeDescription {
  std::string name{}, op{}, provider{}, node{};
  bool kernel = false;
  std::vector<ProfiledTensor> inputs{}, outputs{};
};

[[nodiscard]] Activity activity_of(const NodeDescription& what);

}  // namespace benanza::profile
