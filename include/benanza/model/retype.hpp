// SPDX-License-Identifier: Apache-2.0
// retype: what-if analysis with another arithmetic type. A floating-point type replaces f32 in every tensor; tf32
// replaces it only in products. A conversion to 8 bits works as in a quantiser (ONNX Runtime's static quantisation,
// TensorRT's explicit one): convolutions and matrix products take 8-bit operands, accumulate in 32 bits and give 8-bit
// results. Operators that only move, limit, add or multiply quantised tensors, or that have an 8-bit table, stay in 8
// bits. Everything else (softmax, norms, transposed convolutions, recurrent cells) computes in f32 between a
// DequantizeLinear and a QuantizeLinear. Weights are i8; activations are i8 for `i8` (symmetric) and u8 for `u8`, the
// pair that most x86 processors multiply without a correction. Zero points are 0, which is the least work.
#pragma once

#include <benanza/model/fold_quantization.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/operators/lookup.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// The graph with f32 replaced; integers, truth values and tensors of other floating-point types are unchanged. Throws
/// UsageError for a type for which no arithmetic is supported here: expected is f32, tf32, f16, bf16, an 8-bit float,
/// i8 or u8.
[[nodiscard]] Graph retype(Graph graph, DataType type);

namespace detail {

/// Puts conversions around the layers that a quantiser would quantise; `fold_quantization` then folds them.
class Quantizer {
 public:
  Quantizer(Graph& graph, DataType activations) : graph_(graph), activations_(activations) {
    scale_ = add({.name = "what_if_scale", .constant = true});
  }

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (auto& node : nodes) {
      if (takes_8_bits(node)) wrap(std::move(node));
      else graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  ValueId add(Value value) {
    graph_.values.push_back(std::move(value));
    return graph_.values.size() - 1;
  }
  [[nodiscard]] bool is_f32(const std::optional<ValueId>& id) const {
    return id && graph_.value(*id).type == DataType::f32;
  }
  /// The number of leading inputs that are quantised: operands of products and sums, but not the bounds of a Clip.
  [[nodiscard]] static std::size_t operands(const Node& node) {
    const QuantizedAs as = facts_of(node).quantized;
    if (as == QuantizedAs::product || as == QuantizedAs::binary) return 2;
    return node.op_type == "Concat" ? node.inputs.size() : 1;
  }

  [[nodiscard]] bool takes_8_bits(const Node& node) const {
    if (!node.domain.empty() || !node.bodies.empty() || !node.has_input(0) || !node.has_output(0)) return false;
    if (facts_of(node).quantized == QuantizedAs::nothing) return false;
    bool all = true, any = false;
    for (std::size_t i = 0; i < operands(node); ++i) {
      if (!node.has_input(i) || !is_f32(node.inputs[i])) return false;
      const bool there = quantized_.contains(*node.inputs[i]);
      all = all && (there || graph_.value(*node.inputs[i]).constant);
      any = any || there;
    }
    for (const auto& output : node.outputs)
      if (output && !is_f32(output)) return false;
    return facts_of(node).quantized == QuantizedAs::product || (all && any);
  }

  void convert(const std::string& op_type, ValueId from, ValueId to) {
    Node node;
    node.name = graph_.value(to).name + "_" + op_type;
    node.op_type = op_type;
    node.opset = 13;
    node.inputs = {from, scale_};
    node.outputs = {to};
    graph_.nodes.push_back(std::move(node));
  }
  /// The tensor in 8 bits. An activation is converted once, however often it is read.
  ValueId quantized(ValueId id, DataType constant_type) {
    if (const auto made = quantized_.find(id); made != quantized_.end()) return made->second;
    const Value& plain = graph_.value(id);
    const ValueId made = add({.name = plain.name + "_8_bit",
                              .type = plain.constant ? constant_type : activations_,
                              .dims = plain.dims,
                              .constant = plain.constant,
                              .data_dependent = plain.data_dependent});
    if (graph_.value(id).constant) return made;
    convert("QuantizeLinear", id, made);
    return quantized_[id] = made;
  }

  void wrap(Node node) {
    const bool product = facts_of(node).quantized == QuantizedAs::product;
    for (std::size_t i = 0; i < operands(node); ++i) {
      const ValueId from = quantized(*node.inputs[i], product ? DataType::i8 : activations_);
      const Value& plain = graph_.value(*node.inputs[i]);
      const ValueId to = add({.name = plain.name,
                              .type = plain.type,
                              .dims = plain.dims,
                              .constant = plain.constant,
                              .data_dependent = plain.data_dependent});
      convert("DequantizeLinear", from, to);
      node.inputs[i] = to;
    }
    std::vector<std::pair<ValueId, ValueId>> results;  // as the node outputs it, as the graph knows it
    for (auto& output : node.outputs) {
      if (!output) continue;
      const ValueId known = *output;
      output = add(graph_.value(known));
      results.emplace_back(*output, known);
    }
    graph_.nodes.push_back(std::move(node));
    for (const auto& [made, known] : results) {
      const ValueId result = quantized(made, activations_);
      quantized_[known] = result;
      convert("DequantizeLinear", result, known);
    }
  }

  Graph& graph_;
  DataType activations_;
  ValueId scale_ = 0;
  std::map<ValueId, ValueId> quantized_{};
};

/// Applies `change` to a graph and all bodies within it.
template <class Change>
void for_each_graph(Graph& graph, const Change& change) {
  for (auto& node : graph.nodes)
    for (auto& body : node.bodies) for_each_graph(body.graph, change);
  change(graph);
}

}  // namespace detail

inline Graph retype(Graph graph, DataType type) {
  using enum DataType;
  if (is_8_bit(type)) {
    detail::for_each_graph(graph, [&](Graph& each) {
      detail::Quantizer(each, type).run();
      fold_quantization(each);
    });
    return graph;
  }
  if (!is_float(type) || type == f64 || type == f8e8m0 || bits(type) < 8)
    throw UsageError("no model computes in " + std::string(name(type)) +
                     ", expected f32, tf32, f16, bf16, f8e4m3, f8e5m2, i8 or u8");
  detail::for_each_graph(graph, [&](Graph& each) {
    for (auto& value : each.values)
      if (value.type == f32) value.type = type;
  });
  return graph;
}

}  // namespace benanza
