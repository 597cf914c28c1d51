// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and their gradient.
#pragma once

#include <benanza/op/operator.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

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
  [[nodiscard]] static std::optional<Recurrent> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t gates() const { return gates_of(cell); }

  /// The feature of this layer that most plans lack, in words. Empty if it has no such feature.
  [[nodiscard]] std::string_view rare_part() const;

  /// The type of states, biases and results.
  [[nodiscard]] constexpr DataType state_type() const { return weight_type ? DataType::f32 : type; }

  /// Inputs: x, w, r, b (both biases, the input's and then the recurrence's), initial_h and, for LSTM, initial_c and
  /// peepholes. Outputs: y, y_h and y_c. Activations are ONNX's defaults. Weights are as PyTorch initialises them
  /// (torch.nn.LSTM: uniform within 1 / sqrt(hidden)). With larger ones the recurrence is chaotic, and over a hundred
  /// steps the last bit of a sum decides the result.
  [[nodiscard]] Operands operands() const;

  /// Weights from this many units to the gates of all hidden units.
  [[nodiscard]] Operand weights(std::string_view name, std::int64_t units) const;

  /// ONNX LSTM, GRU, RNN: each step and direction multiplies (input + hidden) by gates x hidden. The element-wise part
  /// is 9 (LSTM), 8 (GRU) or 2 (RNN) operations per hidden unit in addition to the biases; peepholes add a product and
  /// a sum to three gates. A state that is not given is 0: the first step of a direction multiplies only its inputs.
  [[nodiscard]] Arithmetic arithmetic() const;
  /// FLOPs of the product of one direction's first step with its state.
  [[nodiscard]] double first_step_flops() const;

  [[nodiscard]] bool consistent() const;
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
  [[nodiscard]] static std::optional<RecurrentGradient> from(const Node& node, const Graph& graph);

  [[nodiscard]] constexpr std::int64_t gates() const { return gates_of(cell); }
  /// Gradients per hidden unit and step: one per gate. If a GRU resets the state after its product, the two sums of its
  /// last gate, before and after the reset, have different gradients.
  [[nodiscard]] constexpr std::int64_t gradients() const { return gates() + (linear_before_reset ? 1 : 0); }

  [[nodiscard]] Operands operands() const;

  /// Each step but the first multiplies its gates' gradients by r. The first one does so too if gradients of initial
  /// states are wanted. A GRU that resets the state before its product needs the last gate's product for the reset's
  /// gradient. Per element there are 24 (LSTM), 17 (GRU) or 4 (RNN) operations: Hochreiter and Schmidhuber's equations
  /// by the chain rule, with the derivatives of sigmoid and tanh from their values, and the tanh of a cell state
  /// recomputed.
  [[nodiscard]] Arithmetic arithmetic() const;

  [[nodiscard]] bool consistent() const;
};

}  // namespace benanza::op

#ifndef BENANZA_COMPILED
#include <benanza/impl/op/recurrent_inl.hpp>
#endif
