// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and their gradient.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/detail/consistent.hpp>
#include <benanza/op/operator.hpp>
#include <benanza/op/recurrent.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::op {

BENANZA_INLINE std::optional<Recurrent> Recurrent::from(const Node& node, const Graph& graph) {
  Recurrent result{.cell = node.op_type.ends_with("LSTM") ? Cell::lstm : node.op_type == "GRU" ? Cell::gru : Cell::rnn};
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
  result.linear_before_reset = result.cell == Cell::gru && node.attribute<std::int64_t>("linear_before_reset", 0) != 0;
  std::vector<std::string> activations;  // ONNX's defaults
  for (std::int64_t i = 0; i < result.directions; ++i) {
    if (result.cell != Cell::rnn) activations.push_back("Sigmoid");
    activations.push_back("Tanh");
    if (result.cell == Cell::lstm) activations.push_back("Tanh");
  }
  if (node.attribute<std::vector<std::string>>("activations", activations) != activations) return std::nullopt;
  return result;
}

BENANZA_INLINE std::string_view Recurrent::rare_part() const {
  return rows          ? "sequences of different lengths"
         : peepholes   ? "peepholes"
         : weight_type ? "quantised weights"
         : batch_first ? "the batch first in memory"
                       : "";
}

BENANZA_INLINE Operands Recurrent::operands() const {
  const DataType other = state_type();
  const TensorShape state = batch_first ? TensorShape{x[1], directions, hidden} : TensorShape{directions, x[1], hidden};
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
    result.inputs.push_back({.name = "peepholes", .type = other, .shape = {directions, 3 * hidden}, .constant = true});
  if (cell == Cell::lstm) result.outputs.push_back({.name = "y_c", .type = other, .shape = state});
  return result;
}

BENANZA_INLINE Operand Recurrent::weights(std::string_view name, std::int64_t units) const {
  return {.name = name,
          .type = weight_type.value_or(type),
          .shape = {directions, gates() * hidden, units},
          .constant = true,
          .contents = weight_type ? Contents::uniform : Contents::settling,
          .limit = weight_type ? 0 : hidden};
}

BENANZA_INLINE Arithmetic Recurrent::arithmetic() const {
  const std::int64_t cells =
      checked_product(rows.value_or(checked_product(x[0], x[1])), checked_product(directions, hidden));
  const std::int64_t macs = checked_product(checked_product(cells, gates()), x[2] + hidden);
  const double pointwise = (cell == Cell::lstm ? 9.0 : cell == Cell::gru ? 8.0 : 2.0) + (peepholes ? 6.0 : 0.0);
  return {.macs = macs,
          .flops = 2.0 * static_cast<double>(macs) + pointwise * static_cast<double>(cells) -
                   (initial_state ? 0.0 : first_step_flops() * static_cast<double>(directions))};
}

BENANZA_INLINE double Recurrent::first_step_flops() const {
  const std::int64_t sequences = rows ? std::min(*rows, x[1]) : x[1];
  return x[0] == 0 ? 0
                   : 2.0 * static_cast<double>(checked_product(sequences, checked_product(hidden, hidden)) * gates());
}

BENANZA_INLINE bool Recurrent::consistent() const {
  return detail::are_sizes(x, 3) && detail::is_size(hidden) && (directions == 1 || (directions == 2 && !reverse)) &&
         (cell == Cell::gru || !linear_before_reset) && (cell == Cell::lstm || !peepholes) &&
         (!weight_type || (is_8_bit(type) && is_8_bit(*weight_type))) &&
         (!rows || (*rows > 0 && *rows < checked_product(x[0], x[1])));
}

BENANZA_INLINE std::optional<RecurrentGradient> RecurrentGradient::from(const Node& node, const Graph& graph) {
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

BENANZA_INLINE Operands RecurrentGradient::operands() const {
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

BENANZA_INLINE Arithmetic RecurrentGradient::arithmetic() const {
  const std::int64_t step = checked_product(checked_product(directions, y[1]), checked_product(y[2], y[2]));
  std::int64_t products = checked_product(gates(), to_initial ? y[0] : y[0] - 1);
  if (cell == Cell::gru && !linear_before_reset && initial_state && !to_initial) ++products;
  const std::int64_t macs = checked_product(products, step);
  const double by_element = cell == Cell::lstm ? 24.0 : cell == Cell::gru ? 17.0 : 4.0;
  const double cells = static_cast<double>(checked_product(directions, element_count(y)));
  return {.macs = macs, .flops = 2.0 * static_cast<double>(macs) + by_element * cells};
}

BENANZA_INLINE bool RecurrentGradient::consistent() const {
  return detail::are_sizes(y, 3) && (directions == 1 || (directions == 2 && !reverse)) &&
         (cell == Cell::gru || !linear_before_reset) && (cell == Cell::lstm || !last_c) &&
         (cell == Cell::rnn ? !initial_state : initial_state || !to_initial) && (every_step || last_h || last_c);
}

}  // namespace benanza::op
