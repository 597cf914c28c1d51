// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: makes a Graph by hand, one node per line, for tests of what is made of graphs. No ONNX file is
// involved.
#pragma once

#include <benanza/model/graph.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::testing {

class GraphBuilder {
 public:
  using Dims = std::vector<std::int64_t>;
  using Attributes = std::map<std::string, Attribute, std::less<>>;

  explicit GraphBuilder(std::string name = "model", int opset = 20) : opset_(opset) { graph_.name = std::move(name); }

  ValueId input(Dims dims, DataType type = DataType::f32) {
    graph_.inputs.push_back(value({.type = type, .dims = std::move(dims)}));
    return graph_.inputs.back();
  }
  /// A weight: constant, its numbers unknown.
  ValueId weight(Dims dims, DataType type = DataType::f32) {
    return value({.type = type, .dims = std::move(dims), .constant = true});
  }
  /// A constant scalar.
  ValueId number(double x) { return value({.constant = true, .literal = Literal{.floats = {x}}}); }
  /// A constant list of integers.
  ValueId ints(std::vector<std::int64_t> list) {
    const Dims dims{static_cast<std::int64_t>(list.size())};
    return value({.type = DataType::i64, .dims = dims, .constant = true, .literal = Literal{.ints = std::move(list)}});
  }
  /// A value of the enclosing graph, seen from this body.
  ValueId capture(const Graph& outer, ValueId id) {
    const ValueId here = value(outer.value(id));
    graph_.captures.emplace_back(here, id);
    return here;
  }

  /// A node with one result, named after its type and position: `Relu_3`.
  ValueId node(const std::string& op_type, std::vector<ValueId> inputs, Dims dims, Attributes attributes = {},
               DataType type = DataType::f32) {
    const ValueId result = value({.type = type, .dims = std::move(dims)});
    add(op_type, std::move(inputs), {result}, std::move(attributes));
    return result;
  }
  /// A node with several results.
  std::vector<ValueId> node_of(const std::string& op_type, std::vector<ValueId> inputs, std::vector<Dims> dims,
                               Attributes attributes = {}) {
    std::vector<ValueId> results;
    for (auto& each : dims) results.push_back(value({.dims = std::move(each)}));
    add(op_type, std::move(inputs), results, std::move(attributes));
    return results;
  }
  /// Element-wise: the result has the first operand's dimensions.
  ValueId map(const std::string& op_type, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const Dims dims = graph_.value(inputs[0]).dims;
    return node(op_type, std::move(inputs), dims, std::move(attributes));
  }
  /// 3x3 convolution of stride 1 that keeps the plane: N x C x H x W to N x `channels` x H x W.
  ValueId conv(ValueId x, std::int64_t channels, bool has_bias = false) {
    Dims dims = graph_.value(x).dims;
    std::vector<ValueId> inputs{x, weight({channels, dims[1], 3, 3})};
    if (has_bias) inputs.push_back(weight({channels}));
    dims[1] = channels;
    return node("Conv", std::move(inputs), dims, {{"pads", Dims{1, 1, 1, 1}}});
  }
  /// Batch norm with its four constant vectors.
  ValueId batch_norm(ValueId x) {
    const Dims channels{graph_.value(x).dims[1]};
    return map("BatchNormalization", {x, weight(channels), weight(channels), weight(channels), weight(channels)});
  }

  GraphBuilder& output(ValueId id) {
    graph_.outputs.push_back(id);
    return *this;
  }
  /// The latest node, to give it bodies or a trip count.
  Node& last() { return graph_.nodes.back(); }
  Graph& graph() { return graph_; }

 private:
  ValueId value(Value made) {
    made.name = "v" + std::to_string(graph_.values.size());
    graph_.values.push_back(std::move(made));
    return graph_.values.size() - 1;
  }
  void add(const std::string& op_type, std::vector<ValueId> inputs, const std::vector<ValueId>& outputs,
           Attributes attributes) {
    Node node;
    node.name = op_type + "_" + std::to_string(graph_.nodes.size());
    node.op_type = op_type;
    node.opset = opset_;
    for (auto id : inputs) node.inputs.emplace_back(id);
    for (auto id : outputs) node.outputs.emplace_back(id);
    node.attributes = std::move(attributes);
    graph_.nodes.push_back(std::move(node));
  }

  int opset_;
  Graph graph_{};
};

}  // namespace benanza::testing
