// SPDX-License-Identifier: Apache-2.0
// What the nodes of ONNX Runtime's profiles are, by their operators, providers and types.
#pragma once

#include <benanza/engine_profile.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

/// Whether nodes of this execution provider return before the device has done their work.
[[nodiscard]] bool is_asynchronous(std::string_view provider);

/// Whether an operator runs the nodes of a graph of its own.
[[nodiscard]] bool runs_subgraph(std::string_view op);

/// Of the name in input_type_shape (DataTypeImpl::ToString without `tensor()`).
[[nodiscard]] std::optional<DataType> onnxruntime_type(std::string_view name);

/// What a node or kernel is, once for all its events.
struct NodeDescription {
  std::string name{}, op{}, provider{}, node{};
  bool kernel = false;
  std::vector<ProfiledTensor> inputs{}, outputs{};
};

[[nodiscard]] Activity activity_of(const NodeDescription& what);

}  // namespace benanza::profile
