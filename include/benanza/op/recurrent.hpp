// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and their gradient.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::op {

/// The three kinds of recurrent layers.
enum class Cell : std::uint8_t { rnn, gru, lstm };
[[nodiscard]] constexpr auto enum_names(Cell) { return std::array<std::string_view, 3>{"rnn", "gru", "lstm"}; }

[[nodiscard]] constexpr std::int64_t gates_of(Cell cell) { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }

/// LSTM, GRU and RNN: a recurrent layer over a whole sequence.
struct Recurrent {
  static constexpr std::string_view kind = "Recurrent";
  static constexpr Family family = Family::product;
  static constexpr std::array<std::string_view, 4> onnx_types{"LSTM", "GRU", "RNN",
                                                              "com.microsoft.DynamicQuantizeLSTM"};
  DataType type = DataType::f32;
  Cell cell = Cell::lstm;
  TensorShape x{};  ///< sequence batch input
  std::int64_t hidden = 1;
  std::int64_t directions = 1;
  bool reverse = false;  ///< one direction, from the end
  bool bias = true;
  bool initial_state = false;
  bool linear_before_reset = false;  ///< GRU only
  bool peepholes = false;            ///< LSTM only: gates see the cell state, each unit only its own
  bool batch_first = false;          ///< memory layout of x, y and the states
  /// The type of quantised weights. Then `type` is the type that x is rounded to; states, biases and y are f32.
  std::optional<DataType> weight_type{};
  std::optional<std::int64_t> rows{};  ///< steps of all sequences together, if they are known to differ in length

  template <class Self, class Visit>
  static constexpr void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
    visit("cell", self.cell);
    visit("x", self.x);
    visit("hidden", self.hidden);
    visit("directions", self.directions);
    visit("reverse", self.reverse);
    visit("bias", self.bias);
    visit("initial_state", self.initial_state);
    visit("linear_before_reset", self.linear_before_reset);
    visit("peepholes", self.peepholes);
    visit("batch_first", self.batch_first);
    visit("weight_type", self.weight_type);
    visit("rows", self.rows);
  }
  constexpr bool operator==(const Recurrent&) const = default;

  /// Reads sequences whose lengths are known, with ONNX's default activations and without clipping. com.microsoft's
  /// DynamicQuantizeLSTM rounds x to 8 bits. Rounding and scales are not counted.
  [[nodiscard]] static auto from(const Node& node, const AnyGraph auto& graph) -> Read<Recurrent, decltype(graph)> {
    Recurrent result{.cell = node.op_type.ends_with("LSTM") ? Cell::lstm
                             : node.op_type == "GRU"        ? Cell::gru
                                                            : Cell::rnn};
    const Value& x_value = graph.input(node, 0);
    const Value& r_value = graph.input(node, 2);
    if (x_value.dims.size() != 3 || r_value.dims.size() != 3) return std::nullopt;
    if (node.attributes.contains("clip") || node.attribute<std::int64_t>("input_forget", 0) != 0) return std::nullopt;
    const bool batch_first = node.attribute<std::int64_t>("layout", 0) != 0;
    const std::int64_t batch = x_value.dims[batch_first ? 0 : 1], steps = x_value.dims[batch_first ? 1 : 0];
    if (const Value* lengths = detail::optional_input(node, graph, 4)) {
      if (!lengths->literal || static_cast<std::int64_t>(lengths->literal->ints.size()) != batch) return std::nullopt;
      std::int64_t rows = 0;
      for (const auto length : lengths->literal->ints) {
        if (length < 0 || length > steps) return std::nullopt;
        rows += length;
      }
      if (rows == 0 && steps > 0) return std::nullopt;
      if (rows < steps * batch) result.rows = rows;
    }
    const std::string direction = node.attribute<std::string>("direction", "forward");
    const bool quantized = !node.domain.empty();  // its weights are transposed
    result.type = quantized ? DataType::u8 : x_value.type;
    if (quantized) result.weight_type = r_value.type;
    result.x = {steps, batch, x_value.dims[2]};
    result.hidden = r_value.dims[quantized ? 1 : 2];
    result.directions = direction == "bidirectional" ? 2 : 1;
    result.batch_first = batch_first && batch != 1 && (steps != 1 || result.directions != 1);  // otherwise the same
    result.peepholes = node.has_input(7);
    result.reverse = direction == "reverse";
    result.bias = node.has_input(3);
    result.initial_state = node.has_input(5) || node.has_input(6);
    result.linear_before_reset =
        result.cell == Cell::gru && node.attribute<std::int64_t>("linear_before_reset", 0) != 0;
    std::vector<std::string> activations;  // ONNX's defaults
    for (std::int64_t i = 0; i < result.directions; ++i) {
      if (result.cell != Cell::rnn) activations.push_back("Sigmoid");
      activations.push_back("Tanh");
      if (result.cell == Cell::lstm) activations.push_back("Tanh");
    }
    if (node.attribute<std::vector<std::string>>("activations", activations) != activations) return std::nullopt;
    return result;
  }

  [[nodiscard]] constexpr std::int64_t gates() const { return gates_of(cell); }

  /// The feature of this layer that most plans lack, in words. Empty if it has no such feature.
  [[nodiscard]] constexpr std::string_view rare_part() const {
    return rows          ? "sequences of different lengths"
           : peepholes   ? "peepholes"
           : weight_type ? "quantised weights"
           : batch_first ? "the batch first in memory"
                         : "";
  }

  /// The type of states, biases and results.
  [[nodiscard]] constexpr DataType state_type() const { return weight_type ? DataType::f32 : type; }

  /// Inputs: x, w, r, b (both biases, the input's and then the recurrence's), initial_h and, for LSTM, initial_c and
  /// peepholes. Outputs: y, y_h and y_c. Activations are ONNX's defaults. Weights are as PyTorch initialises them
  /// (torch.nn.LSTM: uniform within 1 / sqrt(hidden)). With larger ones the recurrence is chaotic, and over a hundred
  /// steps the last bit of a sum decides the result.
  [[nodiscard]] Operands operands() const {
    const DataType other = state_type();
    const TensorShape state =
        batch_first ? TensorShape{x[1], directions, hidden} : TensorShape{directions, x[1], hidden};
    Operands result{.inputs = {{.name = "x", .type = type, .shape = batch_first ? TensorShape{x[1], x[0], x[2]} : x},
                               weights("w", x[2]),
                               weights("r", hidden)},
                    .outputs = {{.name = "y",
                                 .type = other,
                                 .shape = batch_first ? TensorShape{x[1], x[0], directions, hidden}
                                                      : TensorShape{x[0], directions, x[1], hidden}},
                                {.name = "y_h", .type = other, .shape = state}}};
    if (bias)
      result.inputs.push_back(
          {.name = "b", .type = other, .shape = {directions, 2 * gates() * hidden}, .constant = true});
    if (initial_state) result.inputs.push_back({.name = "initial_h", .type = other, .shape = state});
    if (initial_state && cell == Cell::lstm)
      result.inputs.push_back({.name = "initial_c", .type = other, .shape = state});
    if (peepholes)
      result.inputs.push_back(
          {.name = "peepholes", .type = other, .shape = {directions, 3 * hidden}, .constant = true});
    if (cell == Cell::lstm) result.outputs.push_back({.name = "y_c", .type = other, .shape = state});
    return result;
  }

  /// Weights from this many units to the gates of all hidden units.
  [[nodiscard]] Operand weights(std::string_view name, std::int64_t units) const {
    return {.name = name,
            .type = weight_type.value_or(type),
            .shape = {directions, gates() * hidden, units},
            .constant = true,
            .contents = weight_type ? Contents::uniform : Contents::settling,
            .limit = weight_type ? 0 : hidden};
  }

  /// ONNX LSTM, GRU, RNN: each step and direction multiplies (input + hidden) by gates x hidden. The element-wise part
  /// is 9 (LSTM), 8 (GRU) or 2 (RNN) operations per hidden unit in addition to the biases; peepholes add a product and
  /// a sum to three gates. A state that is not given is 0: the first step of a direction multiplies only its inputs.
  [[nodiscard]] constexpr Arithmetic arithmetic() const {
    const std::int64_t cells =
        checked_product(rows.value_or(checked_product(x[0], x[1])), checked_product(directions, hidden));
    const std::int64_t macs = checked_product(checked_product(cells, gates()), x[2] + hidden);
    const double pointwise = (cell == Cell::lstm ? 9.0 : cell == Cell::gru ? 8.0 : 2.0) + (peepholes ? 6.0 : 0.0);
    return {.macs = macs,
            .flops = 2.0 * static_cast<double>(macs) + pointwise * static_cast<double>(cells) -
                     (initial_state ? 0.0 : first_step_flops() * static_cast<double>(directions))};
  }
  /// FLOPs of the product of one direction's first step with its state.
  [[nodiscard]] constexpr double first_step_flops() const {
    const std::int64_t sequences = rows ? std::min(*rows, x[1]) : x[1];
    return x[0] == 0 ? 0
                     : 2.0 * static_cast<double>(checked_product(sequences, checked_product(hidden, hidden)) * gates());
  }

  [[nodiscard]] constexpr bool consistent() const {
    return detail::are_sizes(x, 3) && detail::is_size(hidden) && (directions == 1 || (directions == 2 && !reverse)) &&
           (cell == Cell::gru || !linear_before_reset) && (cell == Cell::lstm || !peepholes) &&
           (!weight_type || (is_8_bit(type) && is_8_bit(*weight_type))) &&
           (!rows || (*rows > 0 && *rows < checked_product(x[0], x[1])));
  }
};

/// Gradient of LSTM, GRU and RNN: goes back through the steps of a recurrence and computes the gradients of the gates'
/// sums in each step. The gradients of inputs, weights and biases are products and sums of those, and separate layers.
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
