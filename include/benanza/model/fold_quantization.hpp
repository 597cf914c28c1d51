// SPDX-License-Identifier: Apache-2.0
// fold_quantization: a graph of DequantizeLinear -> operator -> QuantizeLinear describes in floats what an engine
// computes in 8 bits ("QDQ"). This pass replaces each such group by the quantised operator: QLinearConv, QLinearMatMul,
// and the operators of the com.microsoft domain into which ONNX Runtime converts it. Equal work then has an equal
// signature however a model is quantised, and every bound holds for the model's own types.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza {

/// Folds what can be folded and drops conversions that no layer reads any more. A tensor that is dequantised from a
/// constant becomes a constant. Everything else is unchanged. Bodies of control flow are not folded here: each is
/// folded as a graph of its own.
void fold_quantization(Graph& graph);

namespace detail {

/// One pass over one graph.
class QuantizationFold {
 public:
  explicit QuantizationFold(Graph& graph) : graph_(graph), maker_(graph.values.size()), uses_(graph.values.size()) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const auto& output : graph.nodes[n].outputs)
        if (output) maker_[*output] = n;
      for (const auto& input : graph.nodes[n].inputs)
        if (input) uses_[*input].push_back(n);
      for (const auto& body : graph.nodes[n].bodies)
        for (const auto& capture : body.graph.captures) kept_.push_back(capture.second);
    }
    kept_.insert(kept_.end(), graph.outputs.begin(), graph.outputs.end());
  }

  void run() {
    dropped_.assign(graph_.nodes.size(), false);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!dropped_[n]) fold(n);
    drop_unread();
    std::size_t next = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return dropped_[next++]; });
  }

 private:
  /// A tensor of 8 bits (32 for a bias) with its scale and zero point.
  struct Quantized {
    ValueId value = 0;
    std::optional<ValueId> scale{}, zero_point{};
  };

  [[nodiscard]] static std::optional<ValueId> optional_id(const Node& node, std::size_t i) {
    return node.has_input(i) ? node.inputs[i] : std::nullopt;
  }
  [[nodiscard]] static bool is(const Node& node, std::string_view op_type) {
    return node.op_type == op_type && (node.domain.empty() || node.domain == "com.microsoft");
  }
  [[nodiscard]] bool has_one_reader(ValueId id) const {
    return uses_[id].size() == 1 && std::find(kept_.begin(), kept_.end(), id) == kept_.end();
  }

  /// The tensor from which a float tensor was dequantised.
  [[nodiscard]] std::optional<Quantized> source(const std::optional<ValueId>& id, bool wide = false) const {
    if (!id) return std::nullopt;
    if (const auto made = quantized_.find(*id); made != quantized_.end()) return made->second;
    if (*id >= maker_.size() || !maker_[*id]) return std::nullopt;
    const Node& maker = graph_.nodes[*maker_[*id]];
    if (!is(maker, "DequantizeLinear") || !maker.has_input(0) || !maker.has_input(1)) return std::nullopt;
    const DataType type = graph_.value(*maker.inputs[0]).type;
    if (!is_8_bit(type) && !(wide && type == DataType::i32)) return std::nullopt;
    return Quantized{*maker.inputs[0], maker.inputs[1], optional_id(maker, 2)};
  }

  /// The tensor to which a float tensor is quantised: by its only reader, or after a reader that keeps elements or
  /// clips them.
  [[nodiscard]] std::optional<Quantized> target(const std::optional<ValueId>& id) {
    if (!id || *id >= uses_.size() || !has_one_reader(*id)) return std::nullopt;
    const Node& reader = graph_.nodes[uses_[*id][0]];
    if (reader.inputs.empty() || reader.inputs[0] != id || reader.outputs.size() != 1) return std::nullopt;
    if (is(reader, "QuantizeLinear")) {
      if (!reader.outputs[0] || !is_8_bit(graph_.value(*reader.outputs[0]).type) || !reader.has_input(1))
        return std::nullopt;
      dropped_[uses_[*id][0]] = true;
      return Quantized{*reader.outputs[0], reader.inputs[1], optional_id(reader, 2)};
    }
    std::map<std::string, Attribute, std::less<>> bounds;
    const bool limits = reader.op_type == "Relu" || (reader.op_type == "Clip" && clip_bounds(reader, bounds));
    const bool passes = limits || (facts_of(reader).quantized == QuantizedAs::codes && reader.op_type != "Concat");
    if (!passes || !reader.domain.empty()) return std::nullopt;
    const auto behind = target(reader.outputs[0]);
    if (!behind) return std::nullopt;
    quantized_[*reader.outputs[0]] = *behind;  // the reader makes it when it is folded
    Value value = graph_.value(*id);
    value.name += "_quantized";
    value.type = graph_.value(behind->value).type;
    graph_.values.push_back(std::move(value));
    return quantized_[*id] = Quantized{graph_.values.size() - 1, behind->scale, behind->zero_point};
  }
  /// The quantised form of a result: `target` determined it while an earlier node was folded, or determines it now.
  [[nodiscard]] std::optional<Quantized> result(const std::optional<ValueId>& id) {
    if (id)
      if (const auto settled = quantized_.find(*id); settled != quantized_.end()) return settled->second;
    return target(id);
  }

  void fold(std::size_t n) {
    Node& node = graph_.nodes[n];
    if (!node.domain.empty() || node.outputs.empty() || !node.bodies.empty()) return;
    switch (facts_of(node).quantized) {
      case QuantizedAs::nothing: return;
      case QuantizedAs::product: return product(node);
      case QuantizedAs::binary: return elementwise(node, 2);
      case QuantizedAs::unary: return elementwise(node, 1);
      case QuantizedAs::codes: return keep(node);
    }
  }

  /// The result stays in floats if nothing quantises it.
  void product(Node& node) {
    const auto x = source(optional_id(node, 0)), w = source(optional_id(node, 1));
    if (!x || !w) return;
    const auto b = optional_id(node, 2);
    const auto bias = source(b, true);
    if (b && !bias && !graph_.value(*b).constant) return;
    const auto addend = bias ? std::optional(bias->value) : b;
    const auto y = result(node.outputs[0]);
    if (y) node.outputs[0] = y->value;
    const auto scale = y ? y->scale : std::nullopt, zero_point = y ? y->zero_point : std::nullopt;
    node.inputs = {x->value, x->scale, x->zero_point, w->value, w->scale, w->zero_point};
    if (node.op_type == "Gemm") {
      node.inputs.insert(node.inputs.end(), {addend, scale, zero_point});
      node.domain = "com.microsoft";
      node.op_type = "QGemm";
      return;
    }
    node.inputs.insert(node.inputs.end(), {scale, zero_point});
    if (node.op_type == "Conv") node.inputs.push_back(addend);
    node.op_type = "QLinear" + node.op_type;
  }

  /// For one or two operands, if all of them and the result are quantised. Further inputs become attributes.
  void elementwise(Node& node, std::size_t operands) {
    std::vector<Quantized> given;
    for (std::size_t i = 0; i < operands; ++i) {
      const auto operand = source(optional_id(node, i));
      if (!operand) return;
      given.push_back(*operand);
    }
    std::map<std::string, Attribute, std::less<>> attributes = node.attributes;
    if (node.op_type == "Clip" && !clip_bounds(node, attributes)) return;
    if (node.op_type == "ReduceMean" && node.has_input(1)) {
      const auto& axes = graph_.input(node, 1).literal;
      if (!axes) return;
      attributes["axes"] = axes->ints;
    }
    const auto y = result(node.outputs[0]);
    if (!y) return;
    node.inputs.clear();
    for (const auto& operand : given)
      node.inputs.insert(node.inputs.end(), {operand.value, operand.scale, operand.zero_point});
    node.inputs.insert(node.inputs.end(), {y->scale, y->zero_point});
    node.outputs[0] = y->value;
    node.attributes = std::move(attributes);
    node.domain = "com.microsoft";
    node.op_type = "QLinear" + node.op_type;
  }

  [[nodiscard]] bool clip_bounds(const Node& node, std::map<std::string, Attribute, std::less<>>& attributes) const {
    for (std::size_t i = 1; i < 3; ++i) {
      if (!node.has_input(i)) continue;
      const auto bound = scalar(graph_.input(node, i));
      if (!bound) return false;
      attributes[i == 1 ? "min" : "max"] = *bound;
    }
    return true;
  }

  /// Moves 8-bit elements instead of floats, if all operands and results are quantised.
  void keep(Node& node) {
    auto inputs = node.inputs, outputs = node.outputs;
    bool any = false;
    for (auto& input : inputs) {
      if (!input || !is_float(graph_.value(*input).type)) continue;
      const auto operand = source(input);
      if (!operand) return;
      input = operand->value;
      any = true;
    }
    if (!any) return;
    const auto moved = [&](const std::optional<ValueId>& id) { return id && is_float(graph_.value(*id).type); };
    for (const auto& output : outputs)
      if (moved(output) && outputs.size() > 1 && !quantized_.contains(*output) && !is_quantized_at_once(*output))
        return;
    for (auto& output : outputs) {
      if (!moved(output)) continue;
      const auto y = result(output);
      if (!y) return;
      output = y->value;
    }
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
  }
  [[nodiscard]] bool is_quantized_at_once(ValueId id) const {
    return id < uses_.size() && has_one_reader(id) && is(graph_.nodes[uses_[id][0]], "QuantizeLinear");
  }

  /// Drops conversions that no layer reads any more, and conversions of constants, which can be done beforehand.
  void drop_unread() {
    std::vector<std::size_t> reads(graph_.values.size(), 0);
    for (auto id : kept_) ++reads[id];
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!dropped_[n])
        for (const auto& input : graph_.nodes[n].inputs)
          if (input) ++reads[*input];
    for (std::size_t n = graph_.nodes.size(); n-- > 0;) {
      const Node& node = graph_.nodes[n];
      const bool dequantizes = is(node, "DequantizeLinear");
      if (dropped_[n] || node.outputs.size() != 1 || !node.outputs[0] || (!dequantizes && !is(node, "QuantizeLinear")))
        continue;
      const bool beforehand = dequantizes && node.has_input(0) && graph_.value(*node.inputs[0]).constant;
      if (beforehand) graph_.values[*node.outputs[0]].constant = true;
      if (!beforehand && reads[*node.outputs[0]] > 0) continue;
      dropped_[n] = true;
      for (const auto& input : node.inputs)
        if (input) --reads[*input];
    }
  }

  Graph& graph_;
  std::vector<std::optional<std::size_t>> maker_;  // by value; only the values of the original graph
  std::vector<std::vector<std::size_t>> uses_;     // one entry per use
  std::vector<ValueId> kept_{};                    // outputs, and values that bodies read
  std::vector<bool> dropped_{};                    // nodes
  std::map<ValueId, Quantized> quantized_{};       // float value -> the quantised tensor that replaces it
};

}  // namespace detail

inline void fold_quantization(Graph& graph) {
  const bool quantized = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.op_type == "DequantizeLinear"; });
  if (quantized) detail::QuantizationFold(graph).run();
}

}  // namespace benanza
