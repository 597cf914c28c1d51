// SPDX-License-Identifier: Apache-2.0
// Gradients of LSTM, GRU and RNN: one layer that goes back through the steps, and products of its results.
#pragma once

#include <benanza/op/recurrent.hpp>
#include <benanza/training/gradient_builder.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace benanza::training {

/// Where a recurrent node has the additional results for its gradient, after those of ONNX: the values of the gates for
/// each step and, for an LSTM, those of the cells.
inline constexpr std::size_t kept_gates = 3, kept_cells = 4;

/// The layer of a recurrent node if it has a gradient. Nothing if the node has features that the rule does not support.
[[nodiscard]] inline std::optional<op::Recurrent> differentiable_recurrence(const Node& node, const Graph& graph) {
  const auto layer = op::Recurrent::from(node, graph);
  if (!layer || !layer->rare_part().empty() || node.attribute<std::int64_t>("layout", 0) != 0) return std::nullopt;
  return layer;
}

class RecurrentRule {
 public:
  RecurrentRule(const Node& node, GradientBuilder& at, const op::Recurrent& layer)
      : node_(&node),
        at_(&at),
        layer_(layer),
        steps_(layer.x[0]),
        batch_(layer.x[1]),
        hidden_(layer.hidden),
        rows_(layer.gates() * layer.hidden),
        type_(layer.type) {}

  void apply() {
    std::vector<std::optional<ValueId>> given(9);
    for (std::size_t i = 0; i < 3; ++i) given[i] = at_->gradient(*node_, i);
    const bool lstm = layer_.cell == op::Cell::lstm, rnn = layer_.cell == op::Cell::rnn;
    given[3] = node_->inputs[2];
    if (!rnn) given[4] = node_->outputs[kept_gates];
    if (lstm) given[5] = node_->outputs[kept_cells];
    else given[6] = node_->outputs[0];
    if (layer_.cell == op::Cell::gru && node_->has_input(5)) given[7] = node_->inputs[5];
    if (lstm && node_->has_input(6)) given[8] = node_->inputs[6];
    const bool to_initial = at_->wants(*node_, 5) || at_->wants(*node_, 6);
    const Dims state{layer_.directions, batch_, hidden_};
    const std::int64_t all = rows_ + (layer_.linear_before_reset ? hidden_ : 0);
    std::vector<std::pair<DataType, Dims>> outputs{{type_, {layer_.directions, steps_, batch_, all}}};
    if (to_initial) outputs.resize(lstm ? 3 : 2, {type_, state});
    Attributes attributes;
    for (const auto* key : {"direction", "linear_before_reset"})
      if (const auto found = node_->attributes.find(key); found != node_->attributes.end()) attributes.insert(*found);
    const auto made = at_->emit_all(gradient_op(node_->op_type + "Grad"), given, outputs, attributes);
    of_state_ = of_input_ = made[0];
    if (layer_.linear_before_reset) {  // the last gate before the reset, then the one after it
      of_state_ = slice(made[0], 3, 0, rows_);
      of_input_ = concat({slice(made[0], 3, 0, 2 * hidden_), slice(made[0], 3, rows_, all)}, 3);
    }
    if (to_initial) at_->give_input(*node_, 5, [&] { return made[1]; });
    if (to_initial && lstm) at_->give_input(*node_, 6, [&] { return made[2]; });
    at_->give_input(*node_, 3, [&] { return to_biases(); });
    at_->give_input(*node_, 2, [&] { return to_state_weights(); });
    at_->give_input(*node_, 1, [&] { return to_input_weights(); });
    at_->give_input(*node_, 0, [&] { return to_inputs(); });
  }

 private:
  ValueId slice(ValueId id, std::int64_t axis, std::int64_t begin, std::int64_t end) {
    Dims dims = at_->value(id).dims;
    if (begin == 0 && end == dims[static_cast<std::size_t>(axis)]) return id;
    dims[static_cast<std::size_t>(axis)] = end - begin;
    return at_->emit({"Slice"}, {id, at_->integers({begin}), at_->integers({end}), at_->integers({axis})},
                     at_->value(id).type, dims);
  }
  ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis) {
    if (parts.size() == 1) return parts[0];
    Dims dims = at_->value(parts[0]).dims;
    for (std::size_t i = 1; i < parts.size(); ++i)
      dims[static_cast<std::size_t>(axis)] += at_->value(parts[i]).dims[static_cast<std::size_t>(axis)];
    return at_->emit({"Concat"}, {parts.begin(), parts.end()}, type_, dims, {{"axis", axis}});
  }
  /// a^T b.
  ValueId transposed_product(ValueId a, ValueId b, Dims dims) {
    return at_->emit({"FusedMatMul", microsoft_domain}, {a, b}, type_, std::move(dims), {{"transA", std::int64_t{1}}});
  }

  /// Biases of inputs and biases of states have the same gradients, except for the last gate of a GRU that resets after
  /// its product.
  ValueId to_biases() {
    const Dims sums{layer_.directions, rows_};
    const ValueId inputs = at_->sum_over(of_input_, {1, 2}, sums);
    const ValueId states = of_state_ == of_input_ ? inputs : at_->sum_over(of_state_, {1, 2}, sums);
    return concat({inputs, states}, 1);
  }
  ValueId to_input_weights() {
    const std::int64_t all = steps_ * batch_, units = layer_.x[2];
    const ValueId gates = at_->reshape(of_input_, {layer_.directions, all, rows_});
    return transposed_product(gates, at_->reshape(*node_->inputs[0], {1, all, units}),
                              {layer_.directions, rows_, units});
  }
  ValueId to_inputs() {
    const std::int64_t all = steps_ * batch_, units = layer_.x[2];
    const ValueId gates = at_->reshape(of_input_, {layer_.directions, all, rows_});
    const ValueId each = at_->emit({"MatMul"}, {gates, *node_->inputs[1]}, type_, {layer_.directions, all, units});
    return at_->sum_over(each, layer_.directions > 1 ? Dims{0} : Dims{}, {steps_, batch_, units});
  }
  /// Per direction: the product of the gates' gradients and the states from which the steps started. The first step
  /// contributes nothing if it starts without a state.
  ValueId to_state_weights() {
    std::vector<ValueId> parts;
    const ValueId y = *node_->outputs[0];
    for (std::int64_t way = 0; way < layer_.directions; ++way) {
      const bool from_end = way == 1 || layer_.reverse;
      ValueId gates = slice(of_state_, 0, way, way + 1);
      const ValueId states = slice(y, 1, way, way + 1);  // steps 1 batch hidden
      const std::int64_t first = from_end ? 1 : 0, last = from_end ? steps_ : steps_ - 1;
      std::vector<ValueId> before;
      if (steps_ > 1) before.push_back(slice(states, 0, first, last));
      if (node_->has_input(5)) {
        const ValueId initial = at_->reshape(slice(*node_->inputs[5], 0, way, way + 1), {1, 1, batch_, hidden_});
        before.insert(from_end ? before.end() : before.begin(), initial);
      } else if (steps_ > 1) {
        gates = slice(gates, 1, 1 - first, steps_ - first);
      }
      if (before.empty()) {
        parts.push_back(at_->expand(at_->scalar(type_, 0), {1, rows_, hidden_}));
        continue;
      }
      const ValueId earlier = concat(before, 0);
      if (layer_.cell != op::Cell::gru || layer_.linear_before_reset) {
        parts.push_back(product_of_steps(gates, earlier));
        continue;
      }
      // The product of the last gate uses the states after the reset.
      ValueId reset = slice(slice(*node_->outputs[kept_gates], 1, way, way + 1), 3, hidden_, 2 * hidden_);
      if (!node_->has_input(5)) reset = slice(reset, 0, 1 - first, steps_ - first);
      parts.push_back(concat({product_of_steps(slice(gates, 3, 0, 2 * hidden_), earlier),
                              product_of_steps(slice(gates, 3, 2 * hidden_, rows_),
                                               at_->multiply(reset, earlier, at_->value(earlier).dims))},
                             1));
    }
    return concat(parts, 0);
  }
  /// gates^T states, summed over all steps and images.
  ValueId product_of_steps(ValueId gates, ValueId states) {
    const std::int64_t all = at_->value(states).elements() / hidden_, rows = at_->value(gates).dims[3];
    return transposed_product(at_->reshape(gates, {1, all, rows}), at_->reshape(states, {1, all, hidden_}),
                              {1, rows, hidden_});
  }

  const Node* node_;
  GradientBuilder* at_;
  op::Recurrent layer_;
  std::int64_t steps_, batch_, hidden_, rows_;
  DataType type_;
  ValueId of_state_ = 0, of_input_ = 0;  // directions steps batch gates
};

inline void recurrent_gradient(const Node& node, GradientBuilder& at) {
  const auto layer = differentiable_recurrence(node, at.graph());
  const bool lstm = node.op_type == "LSTM";
  if (!layer || (lstm && node.has_input(5) != node.has_input(6)))
    throw InputError("training: node '" + node.name + "' (" + node.op_type +
                     "): no gradient is known for its attributes and operands");
  RecurrentRule(node, at, *layer).apply();
}

}  // namespace benanza::training
