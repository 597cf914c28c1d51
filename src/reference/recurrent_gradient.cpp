// SPDX-License-Identifier: Apache-2.0
// Gradient of recurrent layers: the chain rule through ONNX's equations, from the last step of the forward pass to the
// first. Gates are in ONNX's order.
#include "evaluate.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace benanza::reference {

namespace {

using Numbers = std::vector<double>;

Numbers all_of(const ConstTensor& tensor) {
  Numbers made(static_cast<std::size_t>(element_count(tensor.shape)));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = tensor[static_cast<std::int64_t>(i)];
  return made;
}

/// Everything that the layer writes.
struct RecurrentGradients {
  Numbers dgates{}, dh{}, dc{};
};

class BackwardRecurrence {
 public:
  BackwardRecurrence(const op::RecurrentGradient& op, const Query& query)
      : op_(op),
        steps_(size(op.y[0])),
        batch_(size(op.y[1])),
        hidden_(size(op.y[2])),
        ways_(size(op.directions)),
        gates_count_(size(op.gates())),
        kept_(size(op.gradients())) {
    std::size_t next = 0;
    const std::size_t state = ways_ * batch_ * hidden_;
    const bool lstm = op.cell == op::Cell::lstm;
    const auto take = [&](bool given, std::size_t count) {
      return given ? all_of(query.input(next++)) : Numbers(count, 0.0);
    };
    dy_ = take(op.every_step, steps_ * state);
    made_.dh = take(op.last_h, state);
    made_.dc = take(op.last_c, state);
    r_ = take(true, 0);
    gates_ = take(op.cell != op::Cell::rnn, 0);
    c_ = take(lstm, 0);
    y_ = take(!lstm, 0);
    initial_ = take(op.initial_state, state);
    made_.dgates.resize(steps_ * state * kept_);
  }

  RecurrentGradients run() {
    for (std::size_t way = 0; way < ways_; ++way) {
      const bool from_end = way == 1 || op_.reverse;  // direction of the forward pass
      for (std::size_t i = steps_; i-- > 0;) {
        const std::size_t t = from_end ? steps_ - 1 - i : i;
        for (std::size_t n = 0; n < batch_; ++n) step(way, t, i == 0 ? t : from_end ? t + 1 : t - 1, i == 0, n);
      }
    }
    return std::move(made_);
  }

 private:
  static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }
  /// Where the states of a step begin in y, c and dy.
  [[nodiscard]] std::size_t row(std::size_t t, std::size_t way, std::size_t n) const {
    return ((t * ways_ + way) * batch_ + n) * hidden_;
  }
  /// Column `unit` of the product of a gate's gradients with its rows of r.
  [[nodiscard]] double product(std::size_t way, std::size_t gate, const double* gradients, std::size_t unit) const {
    double sum = 0;
    const double* const r = r_.data() + (way * gates_count_ + gate) * hidden_ * hidden_;
    for (std::size_t k = 0; k < hidden_; ++k) sum += gradients[k] * r[k * hidden_ + unit];
    return sum;
  }

  void step(std::size_t way, std::size_t t, std::size_t before, bool first, std::size_t n) {
    const std::size_t here = row(t, way, n), previous = row(before, way, n), state = (way * batch_ + n) * hidden_;
    double* const dh = made_.dh.data() + state;
    double* const dc = made_.dc.data() + state;
    double* const d = made_.dgates.data() + ((way * steps_ + t) * batch_ + n) * kept_ * hidden_;
    const double* const gates = gates_.data() + here * kept_;
    for (std::size_t j = 0; j < hidden_; ++j) dh[j] += dy_[here + j];
    const auto earlier = [&](const Numbers& states, std::size_t j) {
      return first ? initial_[state + j] : states[previous + j];
    };
    const auto gate = [&](std::size_t g, std::size_t j) { return gates[g * hidden_ + j]; };
    switch (op_.cell) {
      case op::Cell::rnn:
        for (std::size_t j = 0; j < hidden_; ++j) d[j] = dh[j] * (1 - y_[here + j] * y_[here + j]);
        break;
      case op::Cell::lstm:
        for (std::size_t j = 0; j < hidden_; ++j) {
          const double in = gate(0, j), out = gate(1, j), forget = gate(2, j), cell = gate(3, j);
          const double bent = std::tanh(c_[here + j]);
          dc[j] += dh[j] * out * (1 - bent * bent);
          d[j] = dc[j] * cell * in * (1 - in);
          d[hidden_ + j] = dh[j] * bent * out * (1 - out);
          d[2 * hidden_ + j] = dc[j] * earlier(c_, j) * forget * (1 - forget);
          d[3 * hidden_ + j] = dc[j] * in * (1 - cell * cell);
          dc[j] *= forget;
        }
        break;
      case op::Cell::gru: return step_gru(way, d, dh, gate, [&](std::size_t j) { return earlier(y_, j); });
    }
    for (std::size_t j = 0; j < hidden_; ++j) {
      dh[j] = 0;
      for (std::size_t g = 0; g < gates_count_; ++g) dh[j] += product(way, g, d + g * hidden_, j);
    }
  }

  template <class Gate, class Earlier>
  void step_gru(std::size_t way, double* d, double* dh, Gate gate, Earlier earlier) {
    const bool linear = op_.linear_before_reset;
    double* const of_state = d + 2 * hidden_;
    double* const of_input = linear ? d + 3 * hidden_ : of_state;
    for (std::size_t j = 0; j < hidden_; ++j) {
      const double z = gate(0, j), r = gate(1, j), candidate = gate(2, j);
      of_input[j] = dh[j] * (1 - z) * (1 - candidate * candidate);
      d[j] = dh[j] * (earlier(j) - candidate) * z * (1 - z);
      if (linear) {
        d[hidden_ + j] = of_input[j] * gate(3, j) * r * (1 - r);
        of_state[j] = of_input[j] * r;
      }
    }
    Numbers through(hidden_);  // to the state, through the last gate
    for (std::size_t j = 0; j < hidden_; ++j) through[j] = product(way, 2, of_state, j);
    for (std::size_t j = 0; j < hidden_ && !linear; ++j) {
      const double r = gate(1, j);
      d[hidden_ + j] = through[j] * earlier(j) * r * (1 - r);
      through[j] *= r;
    }
    for (std::size_t j = 0; j < hidden_; ++j)
      dh[j] = dh[j] * gate(0, j) + through[j] + product(way, 0, d, j) + product(way, 1, d + hidden_, j);
  }

  const op::RecurrentGradient& op_;
  std::size_t steps_, batch_, hidden_, ways_, gates_count_, kept_;
  Numbers dy_{}, r_{}, gates_{}, c_{}, y_{}, initial_{};
  RecurrentGradients made_{};
};

}  // namespace

Elements compute(const op::RecurrentGradient& gradient, const Query& query) {
  const RecurrentGradients made = BackwardRecurrence(gradient, query).run();
  const auto& wanted = query.output == 0 ? made.dgates : query.output == 1 ? made.dh : made.dc;
  return query.map([&](std::int64_t flat) { return wanted[static_cast<std::size_t>(flat)]; });
}

}  // namespace benanza::reference
