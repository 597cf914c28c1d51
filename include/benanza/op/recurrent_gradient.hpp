// SPDX-License-Identifier: Apache-2.0
// Gradient of LSTM, GRU and RNN: goes back through the steps of a recurrence and computes the gradients of the gates'
// sums in each step. The gradients of inputs, weights and biases are products and sums of those, and separate layers.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/recurrent_cell.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::op {

/// Reads what the forward pass has kept of each step: the values of the gates in ONNX's order (for a GRU with
/// linear_before_reset also the state's share of the last gate, including its bias), the cell states of an LSTM, and
/// the states of GRU and RNN.
struct RecurrentGradient {
  static constexpr std::string_view kind = "RecurrentGradient";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 3> onnx_types{"benanza.LSTMGrad", "benanza.GRUGrad", "benanza.RNNGrad"};
  DataType type = DataType::f32;
  Cell cell = Cell::lstm;
  TensorShape y{};  ///< steps batch hidden
  std::int64_t directions = 1;
  bool reverse = false;              ///< one direction, from the end
  bool linear_before_reset = false;  ///< GRU only
  bool initial_state = false;        ///< given and read: h of GRU, c of LSTM
  bool every_step = true;            ///< the states of all steps have a gradient
  bool last_h = false;               ///< the last state has a gradient
  bool last_c = false;               ///< LSTM only: the last cell state has a gradient
  bool to_initial = false;           ///< gradients of the initial states are wanted

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("cell", self.cell);
    visit("y", self.y);
    visit("directions", self.directions);
    visit("reverse", self.reverse);
    visit("linear_before_reset", self.linear_before_reset);
    visit("initial_state", self.initial_state);
    visit("every_step", self.every_step);
    visit("last_h", self.last_h);
    visit("last_c", self.last_c);
    visit("to_initial", self.to_initial);
  }
  constexpr bool operator==(const RecurrentGradient&) const = default;

  /// Inputs, each only if it is read: dy, dy_h, dy_c, r, gates, c, y, initial_h, initial_c. Outputs: dgates, dinitial_h
  /// and dinitial_c.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph)
      -> Read<RecurrentGradient, decltype(graph)> {
    if (!node.has_input(3) || !node.has_output(0)) return std::nullopt;
    const Value &r = graph.input(node, 3), &dgates = graph.output(node, 0);
    if (r.dims.size() != 3 || dgates.dims.size() != 4) return std::nullopt;
    const std::string direction = node.attribute<std::string>("direction", "forward");
    RecurrentGradient made{
        .type = dgates.type,
        .cell = node.op_type.starts_with("LSTM")  ? Cell::lstm
                : node.op_type.starts_with("GRU") ? Cell::gru
                                                  : Cell::rnn,
        .y = {dgates.dims[1], dgates.dims[2], r.dims[2]},
        .directions = direction == "bidirectional" ? 2 : 1,
        .reverse = direction == "reverse",
        .linear_before_reset = node.attribute<std::int64_t>("linear_before_reset", 0) != 0,
        .initial_state = node.has_input(7) || node.has_input(8),
        .every_step = node.has_input(0),
        .last_h = node.has_input(1),
        .last_c = node.has_input(2),
        .to_initial = node.has_output(1),
    };
    if (!made.consistent() || dgates.dims[0] != made.directions || r.dims[0] != made.directions ||
        dgates.dims[3] != made.gradients() * made.y[2] || r.dims[1] != made.gates() * made.y[2])
      return std::nullopt;
    return made;
  }

  [[nodiscard]] constexpr std::int64_t gates() const { return gates_of(cell); }
  /// Gradients per hidden unit and step: one per gate. If a GRU resets the state after its product, the two sums of its
  /// last gate, before and after the reset, have different gradients.
  [[nodiscard]] constexpr std::int64_t gradients() const { return gates() + (linear_before_reset ? 1 : 0); }

  [[nodiscard]] Operands operands() const {
    const std::int64_t steps = y[0], batch = y[1], hidden = y[2];
    const TensorShape state{directions, batch, hidden}, states{steps, directions, batch, hidden};
    Operands made{
        .inputs = {},
        .outputs = {{.name = "dgates", .type = type, .shape = {directions, steps, batch, gradients() * hidden}}}};
    const auto reads = [&](bool read, std::string_view name, const TensorShape& shape) {
      if (read) made.inputs.push_back({.name = name, .type = type, .shape = shape});
    };
    const bool lstm = cell == Cell::lstm;
    reads(every_step, "dy", states);
    reads(last_h, "dy_h", state);
    reads(last_c, "dy_c", state);
    made.inputs.push_back({.name = "r",
                           .type = type,
                           .shape = {directions, gates() * hidden, hidden},
                           .contents = Contents::settling,
                           .limit = hidden});
    reads(cell != Cell::rnn, "gates", {steps, directions, batch, gradients() * hidden});
    reads(lstm, "c", states);
    reads(!lstm, "y", states);
    reads(initial_state && !lstm, "initial_h", state);
    reads(initial_state && lstm, "initial_c", state);
    if (to_initial) made.outputs.push_back({.name = "dinitial_h", .type = type, .shape = state});
    if (to_initial && lstm) made.outputs.push_back({.name = "dinitial_c", .type = type, .shape = state});
    return made;
  }

  /// Each step but the first multiplies its gates' gradients by r. The first one does so too if gradients of initial
  /// states are wanted. A GRU that resets the state before its product needs the last gate's product for the reset's
  /// gradient. Per element there are 24 (LSTM), 17 (GRU) or 4 (RNN) operations: Hochreiter and Schmidhuber's equations
  /// by the chain rule, with the derivatives of sigmoid and tanh from their values, and the tanh of a cell state
  /// recomputed.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t step = checked_product(checked_product(directions, y[1]), checked_product(y[2], y[2]));
    std::int64_t products = checked_product(gates(), to_initial ? y[0] : y[0] - 1);
    if (cell == Cell::gru && !linear_before_reset && initial_state && !to_initial) ++products;
    const std::int64_t macs = checked_product(products, step);
    const double by_element = cell == Cell::lstm ? 24.0 : cell == Cell::gru ? 17.0 : 4.0;
    const double cells = static_cast<double>(checked_product(directions, element_count(y)));
    return {.macs = macs, .flops = 2.0 * static_cast<double>(macs) + by_element * cells};
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(y, 3) && (directions == 1 || (directions == 2 && !reverse)) &&
           (cell == Cell::gru || !linear_before_reset) && (cell == Cell::lstm || !last_c) &&
           (cell == Cell::rnn ? !initial_state : initial_state || !to_initial) && (every_step || last_h || last_c);
  }
};

}  // namespace benanza::op
