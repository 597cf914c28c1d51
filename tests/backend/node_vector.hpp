// SPDX-License-Identifier: Apache-2.0
// NodeVector: one of the node tests that ONNX publishes. It has a model of (mostly) one node, its inputs and the
// expected outputs.
#pragma once

#include <benanza/model/graph.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace benanza::test {

/// A tensor's numbers, row-major.
struct Numbers {
  DataType type = DataType::f32;
  std::vector<std::int64_t> dims{};
  std::vector<double> values{};
};

/// A vector that does not test a layer, and the rule that excludes it.
struct Skip {
  std::string rule{};
};

struct NodeVector {
  std::vector<std::string> op_types{};      ///< operator types of the model's nodes
  Graph graph{};                            ///< imported, with parameters such as axes, pads and sizes made constant
  std::map<std::string, Numbers> inputs{};  ///< by name; includes initializers
  std::vector<Numbers> outputs{};           ///< in the graph's order
};

/// Reads a folder of the suite (`model.onnx`, `test_data_set_0`). Throws Skip for vectors that hold sequences,
/// optionals or strings, and InputError if a vector cannot be imported. `scratch` is a folder for the model with its
/// parameters made constant.
[[nodiscard]] NodeVector read_node_vector(const std::filesystem::path& folder, const std::filesystem::path& scratch);

/// Only the operator types of the model's nodes.
[[nodiscard]] std::vector<std::string> read_op_types(const std::filesystem::path& folder);

}  // namespace benanza::test
