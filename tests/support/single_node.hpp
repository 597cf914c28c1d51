// SPDX-License-Identifier: Apache-2.0
// SingleNode: a graph with one node in one line, for tests of the layer that a node becomes.
#pragma once

#include "support/catch.hpp"
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/make_layer.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::testing {

class SingleNode {
 public:
  using Dims = std::vector<std::int64_t>;

  explicit SingleNode(std::string op_type, int opset = 17, std::string domain = {}) {
    node_.name = "node";
    node_.op_type = std::move(op_type);
    node_.opset = opset;
    node_.domain = std::move(domain);
  }
  /// An input computed at run time.
  SingleNode& in(Dims dims, DataType type = DataType::f32) {
    return add_input({.type = type, .dims = std::move(dims)});
  }
  /// A weight: constant, its numbers unknown.
  SingleNode& weight(Dims dims, DataType type = DataType::f32) {
    return add_input({.type = type, .dims = std::move(dims), .constant = true});
  }
  /// A constant list of integers.
  SingleNode& ints(std::vector<std::int64_t> values) {
    const Dims dims{static_cast<std::int64_t>(values.size())};
    return add_input(
        {.type = DataType::i64, .dims = dims, .constant = true, .literal = Literal{.ints = std::move(values)}});
  }
  /// A constant scalar.
  SingleNode& number(double value) {
    return add_input({.type = DataType::f32, .constant = true, .literal = Literal{.floats = {value}}});
  }
  /// An optional input that is left out.
  SingleNode& none() {
    node_.inputs.emplace_back();
    return *this;
  }
  /// The same tensor as input `i`.
  SingleNode& again(std::size_t i) {
    node_.inputs.push_back(node_.inputs[i]);
    return *this;
  }
  SingleNode& out(Dims dims, DataType type = DataType::f32) {
    node_.outputs.emplace_back(graph_.values.size());
    graph_.values.push_back({.type = type, .dims = std::move(dims)});
    return *this;
  }
  /// An optional output that is left out.
  SingleNode& no_out() {
    node_.outputs.emplace_back();
    return *this;
  }
  SingleNode& set(const std::string& key, Attribute value) {
    node_.attributes.emplace(key, std::move(value));
    return *this;
  }
  SingleNode& set(const std::string& key, std::int64_t value) { return set(key, Attribute(value)); }
  SingleNode& set(const std::string& key, int value) { return set(key, Attribute(std::int64_t{value})); }
  SingleNode& set(const std::string& key, double value) { return set(key, Attribute(value)); }
  SingleNode& set(const std::string& key, const char* value) { return set(key, Attribute(std::string(value))); }
  SingleNode& set(const std::string& key, Dims value) { return set(key, Attribute(std::move(value))); }

  [[nodiscard]] Layer layer() const { return make_layer(node_, graph_); }
  [[nodiscard]] std::string signature() const { return LayerSignature(layer()).text(); }

 private:
  SingleNode& add_input(Value value) {
    node_.inputs.emplace_back(graph_.values.size());
    graph_.values.push_back(std::move(value));
    return *this;
  }
  Node node_{};
  Graph graph_{};
};

/// A node and the signature of its layer.
struct SignatureCase {
  std::string why;
  SingleNode node;
  std::string signature;
};
inline void check(const std::vector<SignatureCase>& cases) {
  for (const auto& [why, node, expected] : cases) {
    INFO(why);
    CHECK(node.signature() == expected);
  }
}

}  // namespace benanza::testing
