// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: a recurrent layer over a whole sequence.
#pragma once

#include <benanza/detail/consistent.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/recurrent_cell.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::op {

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

}  // namespace benanza::op
