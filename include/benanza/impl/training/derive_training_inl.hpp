// SPDX-License-Identifier: Apache-2.0
// What derive_training computes.
#pragma once

#include <benanza/impl/inline.hpp>
#include <benanza/model/retype.hpp>
#include <benanza/training/derive_training.hpp>
#include <benanza/training/detail/recompute.hpp>
#include <benanza/training/detail/training_mode.hpp>
#include <benanza/training/gradient_rules.hpp>
#include <benanza/training/training_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

namespace detail {

/// Builds one graph; each call needs its own instance.
class TrainingBuilder {
 public:
  TrainingBuilder(Graph graph, const TrainingOptions& options) : options_(options) { result_.graph = std::move(graph); }

  [[nodiscard]] TrainingGraph build() {
    if (options_.precision != Precision::f32)
      result_.graph = retype(std::move(result_.graph),
                             options_.precision == Precision::mixed_bf16 ? DataType::bf16 : DataType::f16);
    Graph& graph = result_.graph;
    result_.buffers = training::to_training_mode(graph);
    find_parameters();
    training::GradientBuilder at(graph, wanted_);
    const std::size_t forward = graph.nodes.size();
    phases_until(forward, Phase::forward);
    const ValueId output = scores();
    add_loss(at, output);
    const std::vector<Node> nodes(graph.nodes.begin(), graph.nodes.begin() + static_cast<std::ptrdiff_t>(forward));
    result_.sources.resize(result_.phases.size());  // up to and including the loss, whose gradient comes first
    result_.sources.resize(graph.nodes.size(), result_.phases.size() - 1);
    for (std::size_t i = nodes.size(); i-- > 0;) {
      differentiate(nodes[i], at);
      result_.sources.resize(graph.nodes.size(), i);
    }
    phases_until(graph.nodes.size(), Phase::backward);
    gather_gradients(at);
    add_update(at);
    phases_until(graph.nodes.size(), Phase::update);
    result_.sources.resize(graph.nodes.size());
    if (options_.recompute_every > 0) training::recompute(result_, options_.recompute_every);
    return std::move(result_);
  }

 private:
  void phases_until(std::size_t count, Phase phase) { result_.phases.resize(count, phase); }

  /// If a graph was not imported for training, it is not known which constants are weights: all count.
  [[nodiscard]] bool is_parameter(const Value& value) const {
    return value.constant && is_float(value.type) && !value.dims.empty() && (value.trained || !tells_weights_);
  }

  /// Finds the constants with a dimension that some node reads as numbers. Everything that is computed from one wants a
  /// gradient.
  void find_parameters() {
    Graph& graph = result_.graph;
    wanted_.assign(graph.values.size(), false);
    tells_weights_ =
        std::any_of(graph.values.begin(), graph.values.end(), [](const Value& value) { return value.trained; });
    const std::set<ValueId> buffers(result_.buffers.begin(), result_.buffers.end());
    bool any = false;  // also in bodies, whose parameters have no gradient
    for (const Node& node : graph.nodes) {
      const auto read = [&](ValueId input) {
        const Value& value = graph.value(input);
        if (!is_parameter(value) || buffers.contains(input) || training::is_setting(node, graph, input) ||
            wanted_[input] || is_frozen(input))
          return;
        wanted_[input] = true;
        parameters_.push_back(input);
      };
      for (const auto& input : node.inputs)
        if (input) read(*input);
      bool wants = training::passes_gradient(node, wanted_);
      for (const Body& body : node.bodies) {
        for (const auto& [inner, outer] : body.graph.captures) {
          read(outer);
          wants = wants || wanted_[outer];
        }
        const bool has_parameters = std::any_of(body.graph.values.begin(), body.graph.values.end(),
                                                [&](const Value& value) { return is_parameter(value); });
        wants = wants || has_parameters;
        any = any || has_parameters;
      }
      for (const auto& output : node.outputs)
        if (output && is_float(graph.value(*output).type)) wanted_[*output] = wants;
    }
    for (const std::string& name : options_.frozen)
      if (!frozen_.contains(name))
        throw InputError("training: --frozen names '" + name + "', but no parameter has this name");
    if (parameters_.empty() && !any)
      throw InputError(frozen_.empty() ? "training: the model has no floating-point parameters"
                                       : "training: all parameters are frozen");
    // Weights change in every iteration, so nothing may prepare their numbers outside of it. Vectors have only one
    // layout.
    for (const ValueId id : parameters_) {
      if (graph.values[id].dims.size() > 1) {
        graph.values[id].constant = false;
        graph.values[id].trained = true;
      }
      if (auto& literal = graph.values[id].literal) result_.numbers.emplace_back(id, std::move(*literal));
      graph.values[id].literal.reset();
      graph.values[id].banded.reset();
    }
  }

  /// The name in the file: a constant that the import has folded (a weight in another shape) has that of its original.
  [[nodiscard]] const std::string& name_of(ValueId id) const {
    const Graph& graph = result_.graph;
    const Value& value = graph.value(id);
    return value.origins.size() == 1 ? graph.value(value.origins.front()).name : value.name;
  }
  [[nodiscard]] bool is_frozen(ValueId id) {
    const auto& names = options_.frozen;
    if (std::find(names.begin(), names.end(), name_of(id)) == names.end()) return false;
    frozen_.insert(name_of(id));
    return true;
  }

  [[nodiscard]] ValueId scores() const {
    for (const ValueId id : result_.graph.outputs)
      if (id < wanted_.size() && wanted_[id]) return id;
    throw InputError("training: no output depends on a floating-point parameter, so there is no loss");
  }

  void add_loss(training::GradientBuilder& at, ValueId output) {
    Graph& graph = result_.graph;
    const Value y = graph.value(output);
    at.enter("loss");
    if (y.elements() == 1) {  // the model computes its loss
      result_.loss = output;
      at.give(output, at.reshape(at.scalar(y.type, 1), y.dims));
      return;
    }
    if (options_.loss == TrainingLoss::mse) {
      const ValueId target = add_input("target", y.type, y.dims);
      const ValueId difference = at.emit({"Sub"}, {output, target}, y.type, y.dims);
      const ValueId square = at.multiply(difference, difference, y.dims);
      result_.loss = at.emit({"ReduceMean"}, {square}, y.type, {}, {{"keepdims", std::int64_t{0}}});
      phases_until(graph.nodes.size(), Phase::loss);
      const ValueId factor = at.scalar(y.type, 2.0 / static_cast<double>(y.elements()));
      at.give(output, at.multiply(difference, factor, y.dims));
      return;
    }
    if (y.dims.size() < 2)
      throw InputError("training: output '" + y.name + "' has one dimension and no classes, which cross-entropy needs");
    const bool sequence = y.dims.size() == 3;  // classes are the last axis
    const std::vector<std::int64_t> rows{y.dims[0] * (sequence ? y.dims[1] : 1), y.dims.back()};
    const ValueId scores = sequence ? at.reshape(output, rows) : output;
    const auto& dims = graph.value(scores).dims;
    std::vector<std::int64_t> places(dims);
    places.erase(places.begin() + 1);
    const std::vector<std::int64_t> score_dims = dims;
    const ValueId target = add_input("target", DataType::i64, places);
    const auto made = at.emit_all({"SoftmaxCrossEntropyLoss"}, {scores, target}, {{y.type, {}}, {y.type, score_dims}});
    result_.loss = made[0];
    phases_until(graph.nodes.size(), Phase::loss);
    const ValueId gradient = at.emit(training::gradient_op("SoftmaxCrossEntropyLossGrad"),
                                     {at.scalar(y.type, 1), made[1], target}, y.type, score_dims);
    at.give(output, at.reshape(gradient, y.dims));
  }

  ValueId add_input(const std::string& name, DataType type, std::vector<std::int64_t> dims) {
    Graph& graph = result_.graph;
    graph.values.push_back({.name = name, .type = type, .dims = std::move(dims)});
    graph.inputs.push_back(graph.values.size() - 1);
    return graph.values.size() - 1;
  }

  void differentiate(const Node& node, training::GradientBuilder& at) {
    const auto has_gradient = [&](const auto& id) { return id && at.gradient(*id); };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), has_gradient)) return;
    if (node.bodies.empty() && !training::passes_gradient(node, wanted_)) return;
    at.enter(node.name);
    training::gradient_rule(node)(node, at);
  }

  /// Collects the gradients of parameters in the order in which backward completes them.
  void gather_gradients(const training::GradientBuilder& at) {
    Graph& graph = result_.graph;
    std::vector<std::optional<std::size_t>> maker(graph.values.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const auto& output : graph.nodes[i].outputs)
        if (output) maker[*output] = i;
    for (const ValueId id : parameters_) {
      const auto gradient = at.gradient(id);
      if (!gradient) continue;  // the loss does not depend on it
      const Value& value = graph.value(id);
      result_.parameters.push_back({.name = name_of(id),
                                    .value = id,
                                    .gradient = *gradient,
                                    .node = maker[*gradient].value_or(0),
                                    .elements = stored_elements(value),
                                    .bytes = static_cast<double>(stored_elements(value)) * bits(value.type) / 8});
    }
    std::stable_sort(result_.parameters.begin(), result_.parameters.end(),
                     [](const Parameter& a, const Parameter& b) { return a.node < b.node; });
  }

  /// Elements in the file: an expansion that the import has folded counts as the stored original.
  [[nodiscard]] std::int64_t stored_elements(const Value& value) const {
    std::int64_t stored = 0;
    for (const ValueId origin : value.origins) stored += result_.graph.value(origin).elements();
    return value.origins.empty() ? value.elements() : std::min(stored, value.elements());
  }

  /// One call for all parameters of a type, as in modern optimizers: weights, gradients and states are read, weights
  /// and states are written. Each result has the name of the tensor that it replaces, followed by `/updated`.
  /// Plain SGD does not change rows of a table that were not looked up. Therefore each table has a call of its own,
  /// which may leave these rows out.
  void add_update(training::GradientBuilder& at) {
    Graph& graph = result_.graph;
    at.enter("optimizer");
    graph.outputs = {result_.loss};
    graph.output_names = {graph.value(result_.loss).name};
    std::vector<DataType> types;
    for (const Parameter& one : result_.parameters)
      if (const DataType type = graph.value(one.value).type; std::find(types.begin(), types.end(), type) == types.end())
        types.push_back(type);
    const auto is_table = [&](const Parameter& one) {
      return options_.optimizer == Optimizer::sgd && options_.precision == Precision::f32 &&
             graph.nodes[one.node].op_type == "GatherGrad";
    };
    for (const DataType type : types)
      add_step(at, [&](const Parameter& one) { return graph.value(one.value).type == type && !is_table(one); });
    for (const Parameter& table : result_.parameters)
      if (is_table(table)) add_step(at, [&](const Parameter& one) { return one.value == table.value; });
    for (const Node& node : graph.nodes)
      if (node.op_type == "BatchNormalization")
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}})  // running statistics: inputs 3 and 4
          if (node.has_output(i)) leaves(*node.outputs[i], graph.value(*node.inputs.at(i + 2)).name);
  }

  void add_step(training::GradientBuilder& at, const auto& is_updated) {
    Graph& graph = result_.graph;
    std::vector<std::optional<ValueId>> inputs;
    std::vector<std::pair<DataType, std::vector<std::int64_t>>> outputs;
    std::vector<std::string> replaced;
    for (const Parameter& one : result_.parameters) {
      if (!is_updated(one)) continue;
      const Value value = graph.value(one.value);
      inputs.insert(inputs.end(), {one.value, one.gradient});
      outputs.emplace_back(value.type, value.dims);
      replaced.push_back(one.name);
      const bool master = bits(value.type) == 16 && options_.precision != Precision::f32;
      const DataType type = master ? DataType::f32 : value.type;
      const auto add_state = [&](const std::string& name) {
        result_.optimizer_state.push_back(add_input(value.name + "/" + name, type, value.dims));
        inputs.emplace_back(result_.optimizer_state.back());
        outputs.emplace_back(type, value.dims);
        replaced.push_back(graph.value(*inputs.back()).name);
      };
      if (master) add_state("master");
      for (int state = 0; state < states_of(options_.optimizer); ++state) add_state("state." + std::to_string(state));
    }
    if (inputs.empty()) return;
    const auto name = enum_names(Optimizer{})[static_cast<std::size_t>(options_.optimizer)];
    const auto updated =
        at.emit_all(training::gradient_op("OptimizerStep"), inputs, outputs, {{"optimizer", std::string(name)}});
    for (std::size_t i = 0; i < updated.size(); ++i) leaves(updated[i], replaced[i]);
  }

  void leaves(ValueId id, const std::string& name_of_replaced) {
    result_.graph.outputs.push_back(id);
    result_.graph.output_names.push_back(name_of_replaced + "/updated");
  }

  TrainingOptions options_;
  TrainingGraph result_{};
  bool tells_weights_ = false;  // the import marks weights
  std::vector<bool> wanted_{};  // by value: a gradient is wanted
  std::set<std::string> frozen_{};
  std::vector<ValueId> parameters_{};
};

}  // namespace detail

BENANZA_INLINE TrainingGraph derive_training(Graph graph, const TrainingOptions& options) {
  const std::string name = graph.file.empty() ? graph.name : graph.file;
  try {
    return detail::TrainingBuilder(std::move(graph), options).build();
  } catch (const InputError& error) {
    throw InputError(name + ": " + error.what());
  }
}

}  // namespace benanza
