// SPDX-License-Identifier: Apache-2.0
// NodeVector: one of the node tests that ONNX publishes: a model of (mostly) one node, its inputs and the outputs that
// are expected.
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

/// A vector that does not test a layer, and by which rule.
struct Skip {
  std::string rule{};
};

struct NodeVector {
  std::vector<std::string> op_types{};      ///< operator types of the model's nodes
  Graph graph{};                            ///< imported, with parameters such as axes, pads and sizes made constant
  std::map<std::string, Numbers> inputs{};  ///< by name; initializers too
  std::vector<Numbers> outputs{};           ///< in the graph's order
};

/// Reads a folder of the suite (`model.onnx`, `test_data_set_0`). Throws Skip for what holds sequences, optionals or
/// strings and InputError for what cannot be imported. `scratch` is a folder for the model with its parameters made
/// constant.
[[nodiscard]] NodeVector read_node_vector(const std::filesystem::path& folder, const std::filesystem::path& scratch);

/// Operator types of the model's nodes alone.
[[nodiscard]] std::vector<std::string> read_op_types(const std::filesystem::path& folder);

}  // namespace benanza::test
