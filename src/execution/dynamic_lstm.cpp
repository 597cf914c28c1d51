// SPDX-License-Identifier: Apache-2.0
#include "dynamic_lstm.hpp"

#include <benanza/op/recurrent.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace benanza::execution {

namespace {

/// Inputs of the node.
enum LstmInput : std::size_t {
  lstm_x,
  lstm_w,
  lstm_r,
  lstm_bias,
  lstm_lengths,
  lstm_h,
  lstm_c,
  lstm_peepholes,
  lstm_w_scale,
  lstm_w_zero,
  lstm_r_scale,
  lstm_r_zero
};

constexpr std::size_t lstm_gates = 4;  // input, output, forget, cell

struct LstmSizes {
  std::size_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 0;
  bool reverse = false;
  [[nodiscard]] std::size_t columns() const { return lstm_gates * hidden; }
};

/// In the order of the node's outputs: all states, the last ones, the last cell states.
using LstmResults = std::array<std::vector<double>, 3>;

/// Rounds to 8 bits and back, with the scale and the zero point of DynamicQuantizeLinear.
std::vector<double> rounded_to_8_bits(std::vector<double> values) {
  constexpr double largest = 255;
  double low = 0, high = 0;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const double scale = static_cast<float>((high - low) / largest);
  if (scale == 0) return values;
  const double zero = std::clamp(std::nearbyint(-low / scale), 0.0, largest);
  for (double& value : values) value = (std::clamp(std::nearbyint(value / scale) + zero, 0.0, largest) - zero) * scale;
  return values;
}

/// Elements of one direction; zeros if the input is left out.
std::vector<double> lstm_part(const NodeTensors& inputs, std::size_t at, std::size_t direction, std::size_t count) {
  std::vector<double> result(count);
  if (at >= inputs.size() || !inputs[at]) return result;
  for (std::size_t i = 0; i < count; ++i) result[i] = (*inputs[at])[static_cast<std::int64_t>(direction * count + i)];
  return result;
}

/// One number per direction, or one per column of its weights.
double lstm_number(const NodeTensors& inputs, std::size_t at, std::size_t direction, std::size_t column,
                   const LstmSizes& sizes) {
  if (at >= inputs.size() || !inputs[at]) return 0;
  const bool is_one = static_cast<std::size_t>(inputs[at]->elements()) == sizes.directions;
  return (*inputs[at])[static_cast<std::int64_t>(is_one ? direction : direction * sizes.columns() + column)];
}

/// A row for each input or hidden unit, with a column for each gate and hidden unit.
std::vector<double> lstm_weights(const NodeTensors& inputs, LstmInput weights, LstmInput scale, LstmInput zero,
                                 std::size_t units, std::size_t direction, const LstmSizes& sizes) {
  const std::size_t columns = sizes.columns();
  std::vector<double> result = lstm_part(inputs, weights, direction, units * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const double factor = lstm_number(inputs, scale, direction, column, sizes),
                 zero_point = lstm_number(inputs, zero, direction, column, sizes);
    for (std::size_t i = column; i < result.size(); i += columns) result[i] = (result[i] - zero_point) * factor;
  }
  return result;
}

double lstm_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One direction of the recurrence.
class DynamicLstm {
 public:
  DynamicLstm(const NodeTensors& inputs, const LstmSizes& sizes, std::size_t direction)
      : sizes_(sizes),
        w_(lstm_weights(inputs, lstm_w, lstm_w_scale, lstm_w_zero, sizes.input, direction, sizes)),
        r_(lstm_weights(inputs, lstm_r, lstm_r_scale, lstm_r_zero, sizes.hidden, direction, sizes)),
        bias_(lstm_part(inputs, lstm_bias, direction, 2 * sizes.columns())),
        peepholes_(lstm_part(inputs, lstm_peepholes, direction, 3 * sizes.hidden)),
        h_(lstm_part(inputs, lstm_h, direction, sizes.batch * sizes.hidden)),
        c_(lstm_part(inputs, lstm_c, direction, sizes.batch * sizes.hidden)) {}

  /// One step. `x` is the input of this step, batch by input.
  void step(const double* x) {
    const std::vector<double> h = rounded_to_8_bits(h_);
    for (std::size_t n = 0; n < sizes_.batch; ++n) {
      std::vector<double> sums(bias_.begin(), bias_.begin() + static_cast<std::ptrdiff_t>(sizes_.columns()));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += bias_[sums.size() + i];
      add_product(sums, x + n * sizes_.input, sizes_.input, w_);
      add_product(sums, h.data() + n * sizes_.hidden, sizes_.hidden, r_);
      for (std::size_t i = 0; i < sizes_.hidden; ++i) update(sums, i, n * sizes_.hidden + i);
    }
  }

  [[nodiscard]] const std::vector<double>& h() const { return h_; }
  [[nodiscard]] const std::vector<double>& c() const { return c_; }

 private:
  static void add_product(std::vector<double>& sums, const double* units, std::size_t count,
                          const std::vector<double>& weights) {
    for (std::size_t unit = 0; unit < count; ++unit)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += units[unit] * weights[unit * sums.size() + i];
  }

  /// Updates hidden unit `i` of one sequence; its state is at `at`.
  void update(const std::vector<double>& sums, std::size_t i, std::size_t at) {
    const std::size_t hidden = sizes_.hidden;
    const double* const p = peepholes_.data() + i;  // input, output, forget
    const double input = lstm_sigmoid(sums[i] + p[0] * c_[at]),
                 forget = lstm_sigmoid(sums[2 * hidden + i] + p[2 * hidden] * c_[at]);
    c_[at] = forget * c_[at] + input * std::tanh(sums[3 * hidden + i]);
    h_[at] = lstm_sigmoid(sums[hidden + i] + p[hidden] * c_[at]) * std::tanh(c_[at]);
  }

  const LstmSizes& sizes_;
  std::vector<double> w_, r_, bias_, peepholes_, h_, c_;
};

LstmResults dynamic_lstm(const LstmSizes& sizes, const NodeTensors& inputs) {
  const std::size_t states = sizes.batch * sizes.hidden;
  LstmResults results;
  results[0].resize(sizes.steps * sizes.directions * states);
  const std::vector<double> x = rounded_to_8_bits(inputs[lstm_x]->values());
  for (std::size_t direction = 0; direction < sizes.directions; ++direction) {
    DynamicLstm lstm(inputs, sizes, direction);
    const bool backward = sizes.reverse || direction == 1;
    for (std::size_t i = 0; i < sizes.steps; ++i) {
      const std::size_t t = backward ? sizes.steps - 1 - i : i;
      lstm.step(x.data() + t * sizes.batch * sizes.input);
      std::copy_n(lstm.h().data(), states, results[0].data() + (t * sizes.directions + direction) * states);
    }
    results[1].insert(results[1].end(), lstm.h().begin(), lstm.h().end());
    results[2].insert(results[2].end(), lstm.c().begin(), lstm.c().end());
  }
  return results;
}

}  // namespace

bool is_dynamic_lstm(const Node& node) {
  return node.domain == "com.microsoft" && node.op_type == "DynamicQuantizeLSTM";
}

NodeCall bind_dynamic_lstm(const Graph& graph, const Node& node, const Layer& layer) {
  const auto* recurrent = std::get_if<op::Recurrent>(&layer);
  if (recurrent == nullptr || recurrent->batch_first || !recurrent->weight_type)
    throw NotExecutable(node, "modelled only");
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const LstmSizes sizes{.steps = size(recurrent->x[0]),
                        .batch = size(recurrent->x[1]),
                        .input = size(recurrent->x[2]),
                        .hidden = size(recurrent->hidden),
                        .directions = size(recurrent->directions),
                        .reverse = recurrent->reverse};
  const std::size_t states = sizes.batch * sizes.hidden, all = sizes.directions * states;
  const auto has = [&](std::size_t at, std::size_t expected) {
    return !node.has_input(at) || size(graph.input(node, at).elements()) == sizes.directions * expected;
  };
  bool fits = graph.input(node, lstm_x).type == DataType::f32 && has(lstm_w, sizes.input * sizes.columns()) &&
              has(lstm_r, sizes.hidden * sizes.columns()) && has(lstm_bias, 2 * sizes.columns()) &&
              has(lstm_h, states) && has(lstm_c, states) && has(lstm_peepholes, 3 * sizes.hidden);
  for (const auto at : {lstm_w_scale, lstm_w_zero, lstm_r_scale, lstm_r_zero})
    fits = fits && (has(at, 1) || has(at, sizes.columns()));
  fits = fits && node.has_input(lstm_w) && node.has_input(lstm_r) && node.has_input(lstm_w_scale) &&
         node.has_input(lstm_r_scale) && node.outputs.size() <= 3;
  for (std::size_t i = 0; fits && i < node.outputs.size(); ++i)
    if (node.has_output(i)) {
      const Value& output = graph.output(node, i);
      fits = output.type == DataType::f32 && size(output.elements()) == (i == 0 ? sizes.steps * all : all);
    }
  if (!fits) throw NotExecutable(node, "tensors whose sizes do not fit together");
  NodeCall call{.layer = layer};
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    call.outputs.emplace_back();
    if (node.has_output(i))
      call.outputs[i].make = [=, dims = graph.output(node, i).dims](const NodeTensors& inputs) {
        return Tensor::of(DataType::f32, dims, dynamic_lstm(sizes, inputs)[i]);
      };
  }
  return call;
}

}  // namespace benanza::execution
