// SPDX-License-Identifier: Apache-2.0
// What the forward pass keeps for the backward one: the least that any schedule without recomputation must keep, and
// what PyTorch keeps in eager mode.
#pragma once

#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>
#include <benanza/training/training_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// One storage that is kept.
struct KeptTensor {
  ValueId storage = 0;            ///< the value that the memory was made for
  std::string name{};             ///< of that value
  std::string node{};             ///< that made it; empty: an input of the model
  std::string reader{};           ///< the first forward node whose gradient reads it
  double bytes = 0;
};

/// The memory that each value of a graph lies in: what a view or a movement of elements makes lies where its operand
/// does, since whoever reads it can read through.
class Storages {
 public:
  explicit Storages(const Graph& graph) : of_(graph.values.size()) {
    std::iota(of_.begin(), of_.end(), ValueId{0});
    for (const Node& node : graph.nodes) {
      if (!node.has_input(0) || !reads_through(node, graph)) continue;
      for (const auto& output : node.outputs)
        if (output) of_[*output] = of_[*node.inputs[0]];
    }
  }
  [[nodiscard]] ValueId of(ValueId id) const { return of_[id]; }

 private:
  [[nodiscard]] static bool reads_through(const Node& node, const Graph& graph) {
    constexpr std::array<std::string_view, 5> views{"Transpose", "Slice", "Split", "Expand", "Reshape"};
    if (!node.bodies.empty()) return false;
    if (node.domain.empty() && std::find(views.begin(), views.end(), node.op_type) != views.end()) return true;
    return node.domain.empty() && is_free(make_layer(node, graph));
  }
  std::vector<ValueId> of_;
};

namespace detail {

/// Collects storages that parameters and small constants do not own, each once.
class KeptList {
 public:
  explicit KeptList(const TrainingGraph& iteration) : iteration_(&iteration), storages_(iteration.graph) {
    const Graph& graph = iteration.graph;
    for (const Parameter& one : iteration.parameters) owned_.insert(one.value);
    owned_.insert(iteration.buffers.begin(), iteration.buffers.end());
    maker_.resize(graph.values.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const auto& output : graph.nodes[i].outputs)
        if (output) maker_[*output] = i;
  }
  void add(ValueId id, const std::string& reader, std::optional<double> bytes = std::nullopt) {
    const ValueId storage = storages_.of(id);
    const Value& value = iteration_->graph.value(storage);
    if (value.constant || owned_.contains(storage) || seen_.contains(storage)) return;
    seen_.insert(storage);
    kept_.push_back({.storage = storage,
                     .name = value.name,
                     .node = maker_[storage] ? iteration_->graph.nodes[*maker_[storage]].name : "",
                     .reader = reader,
                     .bytes = bytes.value_or(value.bytes())});
  }
  void add_bytes(const std::string& name, const std::string& reader, double bytes) {
    kept_.push_back({.storage = no_storage, .name = name, .node = reader, .reader = reader, .bytes = bytes});
  }
  [[nodiscard]] const Storages& storages() const { return storages_; }
  [[nodiscard]] std::optional<std::size_t> maker(ValueId id) const { return maker_[id]; }
  [[nodiscard]] bool is_owned(ValueId id) const { return owned_.contains(id) || iteration_->graph.value(id).constant; }
  [[nodiscard]] std::vector<KeptTensor> result() && { return std::move(kept_); }

  static constexpr ValueId no_storage = static_cast<ValueId>(-1);

 private:
  const TrainingGraph* iteration_;
  Storages storages_;
  std::set<ValueId> owned_{}, seen_{};
  std::vector<std::optional<std::size_t>> maker_{};
  std::vector<KeptTensor> kept_{};
};

}  // namespace detail

/// What backward reads of what forward and the loss have made or were given, each storage once: a schedule that does
/// not recompute keeps that much at least. Where a sign is all that is read (Relu), one bit an element; a mask (Dropout)
/// likewise; the place of the largest element of a window, as few bits as its places need.
[[nodiscard]] inline std::vector<KeptTensor> least_kept(const TrainingGraph& iteration) {
  const Graph& graph = iteration.graph;
  detail::KeptList kept(iteration);
  const auto before_backward = [&](ValueId id) {
    const auto maker = kept.maker(id);
    return maker ? iteration.phases[*maker] < Phase::backward
                 : std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
  };
  // Those of which a few bits are read come last: who reads all of it reads these too.
  for (const bool by_bits : {false, true})
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (iteration.phases[i] != Phase::backward || is_free(make_layer(node, graph))) continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        if (!node.inputs[k]) continue;
        const ValueId storage = kept.storages().of(*node.inputs[k]);
        if (!before_backward(storage)) continue;
        double element_bits = 0;
        if (k == 1 && node.op_type == "ReluGrad") element_bits = 1;
        if (k == 1 && node.op_type == "DropoutGrad") element_bits = 1;
        if (k == 1 && node.op_type == "MaxPoolGrad") {
          std::int64_t places = 1;
          for (const auto size : node.attribute<std::vector<std::int64_t>>("kernel_shape", {})) places *= size;
          while ((std::int64_t{1} << static_cast<int>(element_bits)) < places) ++element_bits;
        }
        if (by_bits != (element_bits > 0)) continue;
        if (by_bits)
          kept.add(storage, node.name, static_cast<double>(graph.value(storage).elements()) * element_bits / 8);
        else kept.add(storage, node.name);
      }
    }
  return std::move(kept).result();
}

/// What PyTorch's autograd keeps in eager mode (derivatives.yaml of PyTorch 2.x, on the processor), each storage once:
/// more than must be, as pools keep their operand beside the indices, hard_sigmoid its operand, dropout a mask of the
/// operand's type.
[[nodiscard]] inline std::vector<KeptTensor> eager_kept(const TrainingGraph& iteration) {
  const Graph& graph = iteration.graph;
  detail::KeptList kept(iteration);
  std::set<ValueId> wants;  // values on a way from a parameter
  for (const Parameter& one : iteration.parameters) wants.insert(one.value);
  constexpr std::array<std::string_view, 8> by_result{"Relu", "Sigmoid", "Tanh", "Exp",
                                                      "Sqrt", "Reciprocal", "Softmax", "LogSoftmax"};
  constexpr std::array<std::string_view, 16> by_operand{"HardSwish", "HardSigmoid", "Gelu",     "Erf",     "Log",  "Abs",
                                                        "Clip",      "Swish",       "Mish",     "Softplus", "Sin", "Cos",
                                                        "LeakyRelu", "Elu",         "Selu",     "AveragePool"};
  const auto is_in = [](const auto& list, std::string_view type) {
    return std::find(list.begin(), list.end(), type) != list.end();
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (iteration.phases[i] > Phase::loss) break;
    bool wanted = false;
    for (const auto& input : node.inputs) wanted = wanted || (input && wants.contains(*input));
    if (!wanted) continue;
    for (const auto& output : node.outputs)
      if (output && is_float(graph.value(*output).type)) wants.insert(*output);
    const auto wants_input = [&](std::size_t k) { return node.has_input(k) && wants.contains(*node.inputs[k]); };
    const std::string_view type = node.op_type;
    if (type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm" || type == "Mul") {
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
        if (wants_input(1 - k)) kept.add(*node.inputs[k], node.name);
    } else if (type == "Div") {
      kept.add(*node.inputs[1], node.name);
      if (wants_input(1)) kept.add(*node.inputs[0], node.name);
    } else if (type == "BatchNormalization" || type == "LayerNormalization") {
      kept.add(*node.inputs[0], node.name);
      const std::size_t first = type == "LayerNormalization" ? 1 : 3;
      for (std::size_t k = first; k < first + 2; ++k)
        if (node.has_output(k)) kept.add(*node.outputs[k], node.name);
    } else if (type == "MaxPool") {
      kept.add(*node.inputs[0], node.name);
      if (node.has_output(1)) kept.add(*node.outputs[1], node.name);
    } else if (type == "Dropout") {
      if (node.has_output(1)) kept.add_bytes(node.name + " noise", node.name, graph.value(*node.inputs[0]).bytes());
    } else if (type == "SoftmaxCrossEntropyLoss") {
      kept.add(*node.outputs[1], node.name);
      kept.add(*node.inputs[1], node.name);
      kept.add_bytes("total weight", node.name, graph.value(*node.outputs[0]).bytes());
    } else if (is_in(by_result, type)) {
      kept.add(*node.outputs[0], node.name);
    } else if (is_in(by_operand, type)) {
      kept.add(*node.inputs[0], node.name);
    } else if (type == "Pow" || type == "Where") {
      kept.add(*node.inputs[0], node.name);
    }
  }
  return std::move(kept).result();
}

}  // namespace benanza
