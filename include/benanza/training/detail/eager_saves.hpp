// SPDX-License-Identifier: Apache-2.0
// EagerSaves: what PyTorch's autograd saves for each operator, after derivatives.yaml of PyTorch 2.x, on a processor.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/gradient_rules.hpp>
#include <benanza/training/training_graph.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::detail {

/// A value of the graph, or additional bytes.
struct EagerSave {
  std::optional<ValueId> value{};
  std::string name{};
  double bytes = 0;
  bool copied = false;  ///< a batched product copies an operand that is one position of a larger tensor
};

/// Each iteration needs its own instance.
class EagerSaves {
 public:
  explicit EagerSaves(const TrainingGraph& iteration)
      : graph_(&iteration.graph), wants_(iteration.graph.values.size()) {
    for (const Parameter& one : iteration.parameters) wants_[one.value] = true;
    std::size_t forward = 0;
    for (std::size_t i = 0; i < graph_->nodes.size() && iteration.phases[i] <= Phase::loss; ++i) {
      const Node& node = graph_->nodes[i];
      const bool any = training::passes_gradient(node, wants_);
      forward = i + 1;
      if (iteration.phases[i] == Phase::loss && node.op_type == "Sub") {
        for (const auto& input : node.inputs) of_mse_.push_back({.value = input});
      }
      if (iteration.phases[i] == Phase::loss && node.op_type == "ReduceMean") mse_ = i;
      for (const auto& output : node.outputs)
        if (any && output && is_float(graph_->value(*output).type)) wants_[*output] = true;
    }
    find_attention(forward);
    find_group_norms(forward);
  }

  [[nodiscard]] std::vector<EagerSave> of(std::size_t i) const {
    const Node& node = graph_->nodes[i];
    if (inside_composite_.contains(i)) return {};
    if (i == mse_) return of_mse_;
    if (const auto found = attention_.find(i); found != attention_.end()) return found->second;
    std::vector<EagerSave> saved;
    const auto input = [&](std::size_t k) {
      if (node.has_input(k)) saved.push_back({.value = node.inputs[k]});
    };
    const auto output = [&](std::size_t k) {
      if (node.has_output(k)) saved.push_back({.value = node.outputs[k]});
    };
    const auto wants = [&](std::size_t k) { return node.has_input(k) && wants_[*node.inputs[k]]; };
    switch (facts_of(node).saves) {
      case Saves::nothing: break;
      case Saves::operand: input(0); break;
      case Saves::result: output(0); break;
      case Saves::both:
        input(0);
        output(0);
        break;
      case Saves::all_operands:
        for (std::size_t k = 0; k < node.inputs.size(); ++k) input(k);
        break;
      case Saves::factors:
        for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
          if (wants(1 - k)) {
            input(k);
            saved.back().copied =
                graph_->value(*node.inputs[k]).dims.size() > 2 && graph_->value(*node.inputs[1 - k]).dims.size() > 2;
          }
        break;
      case Saves::quotient:
        input(1);
        if (wants(1)) input(0);
        break;
      case Saves::power:
        input(0);
        if (wants(1)) output(0);
        break;
      case Saves::norm:
        input(0);
        for (std::size_t k = 1; k < node.outputs.size(); ++k)
          if (onnx_type(node) != "BatchNormalization" || k > 2) output(k);
        break;
      case Saves::max_pool:
        input(0);
        output(1);
        break;
      case Saves::condition: input(0); break;
      case Saves::padding:  // constant_pad_nd and circular padding save nothing
        if (const auto mode = node.attribute<std::string>("mode", "constant"); mode == "reflect" || mode == "edge")
          input(0);
        break;
      case Saves::dropout:  // noise of the operand's type, with which it is multiplied
        saved.push_back({.name = node.name + " noise", .bytes = graph_->value(*node.inputs[0]).bytes()});
        break;
      case Saves::loss:
        if (node.op_type == "SoftmaxCrossEntropyLoss") output(1);
        input(1);
        saved.push_back({.name = "total weight", .bytes = bits(graph_->value(*node.inputs[0]).type) / 8.0});
        break;
      case Saves::indices: input(1); break;
    }
    return saved;
  }

 private:
  /// scaled_dot_product_attention, as PyTorch exports it: queries and keys are multiplied by the root of the scale. It
  /// saves queries, keys, values, its result and the logarithm of the sum of each row. With dropout PyTorch computes it
  /// step by step.
  void find_attention(std::size_t forward) {
    std::map<ValueId, std::size_t> maker;
    std::map<ValueId, std::vector<std::size_t>> readers;
    for (std::size_t i = 0; i < forward; ++i) {
      for (const auto& output : graph_->nodes[i].outputs)
        if (output) maker.emplace(*output, i);
      for (const auto& input : graph_->nodes[i].inputs)
        if (input) readers[*input].push_back(i);
    }
    const auto made_by = [&](ValueId id, std::string_view type) -> std::optional<std::size_t> {
      const auto found = maker.find(id);
      return found != maker.end() && onnx_type(graph_->nodes[found->second]) == type ? std::optional(found->second)
                                                                                     : std::nullopt;
    };
    const auto scaled = [&](ValueId id) -> std::optional<std::pair<std::size_t, ValueId>> {
      const auto product = made_by(id, "Mul");
      if (!product) return std::nullopt;
      const auto& inputs = graph_->nodes[*product].inputs;
      if (graph_->value(*inputs[1]).elements() == 1) return std::pair(*product, *inputs[0]);
      if (graph_->value(*inputs[0]).elements() == 1) return std::pair(*product, *inputs[1]);
      return std::nullopt;
    };
    const auto before_copies = [&](ValueId id) {  // keys that several heads share
      bool copied = false;
      ValueId source = id;
      for (auto found = maker.find(source); found != maker.end(); found = maker.find(source)) {
        const Node& node = graph_->nodes[found->second];
        const Moves moves = facts_of(node).moves;
        if (moves != Moves::shape && moves != Moves::permutation && moves != Moves::repetition) break;
        copied = copied || moves == Moves::repetition;
        source = *node.inputs[0];
      }
      return copied ? source : id;
    };
    for (std::size_t i = 0; i < forward; ++i) {
      const Node& softmax = graph_->nodes[i];
      if (onnx_type(softmax) != "Softmax") continue;
      std::vector<std::size_t> inside{i};
      ValueId scores = *softmax.inputs[0];
      for (const auto& [type, operand] : {std::pair("Add", 0), std::pair("Where", 1)})
        if (const auto mask = made_by(scores, type)) {
          inside.push_back(*mask);
          scores = *graph_->nodes[*mask].inputs[static_cast<std::size_t>(operand)];
        }
      const auto product = made_by(scores, "MatMul");
      const auto& next = readers[*softmax.outputs[0]];
      if (!product || next.size() != 1 || onnx_type(graph_->nodes[next[0]]) != "MatMul") continue;
      const auto q = scaled(*graph_->nodes[*product].inputs[0]),
                 k = scaled(before_copies(*graph_->nodes[*product].inputs[1]));
      if (!q || !k) continue;
      inside.insert(inside.end(), {*product, q->first, k->first});
      inside_composite_.insert(inside.begin(), inside.end());
      const Value& y = graph_->value(*softmax.outputs[0]);
      const double rows = y.dims.back() > 0 ? static_cast<double>(y.elements() / y.dims.back()) : 0;
      const Node& last = graph_->nodes[next[0]];
      attention_[next[0]] = {{.value = q->second},
                             {.value = k->second},
                             {.value = last.inputs[1]},
                             {.value = last.outputs[0]},
                             {.name = last.name + " logsumexp", .bytes = rows * 4}};
    }
  }

  /// native_group_norm, which PyTorch exports as Reshape, InstanceNormalization without parameters, Reshape, Mul, Add.
  /// It saves its operand and its statistics, but not the normalised elements, which the product would save.
  void find_group_norms(std::size_t forward) {
    std::map<ValueId, std::size_t> maker;
    for (std::size_t i = 0; i < forward; ++i)
      for (const auto& output : graph_->nodes[i].outputs)
        if (output) maker.emplace(*output, i);
    const auto operand_of = [&](ValueId id, std::string_view type) -> std::optional<ValueId> {
      const auto found = maker.find(id);
      if (found == maker.end() || onnx_type(graph_->nodes[found->second]) != type) return std::nullopt;
      const Node& node = graph_->nodes[found->second];
      const bool has_parameters =
          type == "InstanceNormalization" && (wants_[*node.inputs[1]] || wants_[*node.inputs[2]]);
      return has_parameters ? std::nullopt : node.inputs[0];
    };
    for (std::size_t i = 0; i < forward; ++i) {
      const Node& node = graph_->nodes[i];
      if (onnx_type(node) != "Mul") continue;
      for (const auto& input : node.inputs)
        if (const auto normalized = input ? operand_of(*input, "Reshape") : std::nullopt)
          if (const auto groups = operand_of(*normalized, "InstanceNormalization");
              groups && operand_of(*groups, "Reshape"))
            inside_composite_.insert(i);
    }
  }

  const Graph* graph_;
  std::set<std::size_t> inside_composite_{};  // nodes of which a composite operator saves what it needs
  std::optional<std::size_t> mse_{};          // the last node of mse_loss
  std::vector<EagerSave> of_mse_{};           // its scores and its targets
  std::map<std::size_t, std::vector<EagerSave>> attention_{};  // by its last node
  std::vector<bool> wants_;                                    // by value: it depends on a parameter
};

}  // namespace benanza::detail
