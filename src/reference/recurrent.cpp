// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: ONNX's equations of RNN, GRU and LSTM with the default activations. Gates are in ONNX's order: LSTM
// input, output, forget, cell; GRU update, reset, hidden.
#include "evaluate.hpp"
#include "function.hpp"
#include "recurrent_steps.hpp"

#include <cmath>

namespace benanza::reference {

namespace {

/// Uses separate accumulators, so that additions do not wait for each other.
template <class T>
double dot(const T* a, const double* b, std::size_t length) {
  constexpr std::size_t lanes = 8;
  double sums[lanes]{};
  std::size_t i = 0;
  for (; i + lanes <= length; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += static_cast<double>(a[i + lane]) * b[i + lane];
  for (; i < length; ++i) sums[0] += static_cast<double>(a[i]) * b[i];
  return std::accumulate(sums, sums + lanes, 0.0);
}

template <class T>
std::vector<T> load_all(const ConstTensor& tensor, double zero_point = 0, double scale = 1) {
  std::vector<T> result(static_cast<std::size_t>(element_count(tensor.shape)));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<T>((tensor[static_cast<std::int64_t>(i)] - zero_point) * scale);
  return result;
}

/// Everything that the layer writes.
struct Outputs {
  std::vector<double> y{}, y_h{}, y_c{};
};

/// `T` represents the weights exactly: float, or double if they are double.
template <class T>
class Recurrence {
 public:
  Recurrence(const op::Recurrent& op, const Query& query)
      : op_(op),
        steps_(size(op.x[0])),
        batch_(size(op.x[1])),
        input_(size(op.x[2])),
        hidden_(size(op.hidden)),
        gates_(size(op.gates())),
        x_(load_all<double>(query.input(0), query.parameters.zero_point_a)),
        w_(load_all<T>(query.input(1), query.parameters.zero_point_b, query.parameters.rescale)),
        r_(load_all<T>(query.input(2), query.parameters.zero_point_b, query.parameters.rescale)) {
    const std::size_t rows = gates_ * hidden_, directions = size(op.directions);
    std::size_t next = 3;
    b_ = op.bias ? load_all<double>(query.input(next++)) : std::vector<double>(directions * 2 * rows);
    h_ = op.initial_state ? load_all<double>(query.input(next++)) : std::vector<double>(directions * batch_ * hidden_);
    c_ = op.initial_state && op.cell == op::Cell::lstm ? load_all<double>(query.input(next++))
                                                       : std::vector<double>(h_.size());
    p_ = op.peepholes ? load_all<double>(query.input(next)) : std::vector<double>(directions * 3 * hidden_);
    if (op.batch_first) {
      x_ = swapped(x_, batch_, steps_, input_);
      h_ = swapped(h_, batch_, directions, hidden_);
      c_ = swapped(c_, batch_, directions, hidden_);
    }
    y_.resize(steps_ * directions * batch_ * hidden_);
  }

  /// The forward pass. Keeps what a gradient reads from each step.
  RecurrentSteps run_and_keep() {
    const std::size_t states = steps_ * size(op_.directions) * batch_ * hidden_;
    if (op_.cell != op::Cell::rnn) kept_.gates.resize(states * (gates_ + (op_.linear_before_reset ? 1 : 0)));
    if (op_.cell == op::Cell::lstm) kept_.c.resize(states);
    run();
    return std::move(kept_);
  }

  Outputs run() {
    for (std::size_t direction = 0; direction < size(op_.directions); ++direction) run_direction(direction);
    if (!op_.batch_first) return {std::move(y_), std::move(h_), std::move(c_)};
    const std::size_t directions = size(op_.directions);
    // from steps, directions, batch, hidden to batch, steps, directions, hidden
    return {swapped(y_, steps_ * directions, batch_, hidden_), swapped(h_, directions, batch_, hidden_),
            swapped(c_, directions, batch_, hidden_)};
  }

 private:
  static std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

  /// Transposes a x b x inner to b x a x inner.
  static std::vector<double> swapped(const std::vector<double>& from, std::size_t a, std::size_t b, std::size_t inner) {
    std::vector<double> to(from.size());
    for (std::size_t i = 0; i < a; ++i)
      for (std::size_t k = 0; k < b; ++k)
        std::copy_n(from.data() + (i * b + k) * inner, inner, to.data() + (k * a + i) * inner);
    return to;
  }

  void run_direction(std::size_t direction) {
    const std::size_t rows = gates_ * hidden_;
    const T* w = w_.data() + direction * rows * input_;
    const T* r = r_.data() + direction * rows * hidden_;
    // The products of all steps with the inputs, at once: each row of w is read only once.
    std::vector<double> from_input(steps_ * batch_ * rows);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = 0; i < steps_ * batch_; ++i)
        from_input[i * rows + row] = dot(w + row * input_, x_.data() + i * input_, input_);

    const bool backward = direction == 1 || op_.reverse;
    std::vector<double> from_state(batch_ * rows);
    for (std::size_t step = 0; step < steps_; ++step) {
      const std::size_t t = backward ? steps_ - 1 - step : step;
      double* h = h_.data() + direction * batch_ * hidden_;
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t n = 0; n < batch_; ++n)
          from_state[n * rows + row] = dot(r + row * hidden_, h + n * hidden_, hidden_);
      for (std::size_t n = 0; n < batch_; ++n) {
        const std::size_t state = (direction * batch_ + n) * hidden_;
        const std::size_t here = ((t * size(op_.directions) + direction) * batch_ + n) * hidden_;
        gates_here_ = kept_.gates.empty() ? nullptr : kept_.gates.data() + here * (kept_.gates.size() / y_.size());
        update(direction, from_input.data() + (t * batch_ + n) * rows, from_state.data() + n * rows, r, state);
        std::copy_n(h_.data() + state, hidden_, y_.data() + here);
        if (!kept_.c.empty()) std::copy_n(c_.data() + state, hidden_, kept_.c.data() + here);
      }
    }
  }

  /// Records a gate's value if requested. Returns it.
  double noted(std::size_t gate, std::size_t j, double value) {
    if (gates_here_ != nullptr) gates_here_[gate * hidden_ + j] = value;
    return value;
  }

  /// Computes one step of one sequence. `wx` and `rh` are the products of all gates.
  void update(std::size_t direction, const double* wx, const double* rh, const T* r, std::size_t state) {
    const std::size_t rows = gates_ * hidden_;
    const double* wb = b_.data() + direction * 2 * rows;
    const double* rb = wb + rows;
    const auto sum = [&](std::size_t gate, std::size_t j) {
      const std::size_t row = gate * hidden_ + j;
      return wx[row] + rh[row] + wb[row] + rb[row];
    };
    double* h = h_.data() + state;
    double* c = c_.data() + state;
    switch (op_.cell) {
      case op::Cell::rnn:
        for (std::size_t j = 0; j < hidden_; ++j) h[j] = std::tanh(sum(0, j));
        break;
      case op::Cell::lstm:
        for (std::size_t j = 0; j < hidden_; ++j) {  // peepholes: input, output, forget
          const double* p = p_.data() + direction * 3 * hidden_ + j;
          c[j] = noted(2, j, sigmoid(sum(2, j) + p[2 * hidden_] * c[j])) * c[j] +
                 noted(0, j, sigmoid(sum(0, j) + p[0] * c[j])) * noted(3, j, std::tanh(sum(3, j)));
          h[j] = noted(1, j, sigmoid(sum(1, j) + p[hidden_] * c[j])) * std::tanh(c[j]);
        }
        break;
      case op::Cell::gru: update_gru(sum, wx, rh, wb, rb, r, h); break;
    }
  }

  template <class Sum>
  void update_gru(Sum sum, const double* wx, const double* rh, const double* wb, const double* rb, const T* r,
                  double* h) {
    std::vector<double> reset_h(hidden_), candidate(hidden_);
    for (std::size_t j = 0; j < hidden_; ++j) reset_h[j] = sigmoid(sum(1, j)) * h[j];
    for (std::size_t j = 0; j < hidden_; ++j) {
      const std::size_t row = 2 * hidden_ + j;
      const double reset = noted(1, j, sigmoid(sum(1, j)));
      candidate[j] =
          noted(2, j,
                op_.linear_before_reset
                    ? std::tanh(wx[row] + wb[row] + reset * noted(3, j, rh[row] + rb[row]))
                    : std::tanh(wx[row] + wb[row] + dot(r + row * hidden_, reset_h.data(), hidden_) + rb[row]));
    }
    for (std::size_t j = 0; j < hidden_; ++j) {
      const double z = noted(0, j, sigmoid(sum(0, j)));
      h[j] = (1 - z) * candidate[j] + z * h[j];
    }
  }

  const op::Recurrent& op_;
  std::size_t steps_, batch_, input_, hidden_, gates_;
  std::vector<double> x_;
  std::vector<T> w_, r_;
  std::vector<double> b_{}, h_{}, c_{}, p_{}, y_{};
  RecurrentSteps kept_{};         // empty if not requested
  double* gates_here_ = nullptr;  // gates of the current step and image
};

}  // namespace

RecurrentSteps recurrent_steps(const op::Recurrent& layer, std::span<const void* const> inputs) {
  const Operands operands = layer.operands();
  const Parameters parameters = parameters_of(layer);
  Query query{.parameters = parameters};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    query.inputs.push_back({inputs[i], operands.inputs[i].type, operands.inputs[i].shape});
  return layer.type == DataType::f64 ? Recurrence<double>(layer, query).run_and_keep()
                                     : Recurrence<float>(layer, query).run_and_keep();
}

Elements compute(const op::Recurrent& recurrent, const Query& query) {
  const Outputs outputs = recurrent.type == DataType::f64 ? Recurrence<double>(recurrent, query).run()
                                                          : Recurrence<float>(recurrent, query).run();
  const auto& wanted = query.output == 0 ? outputs.y : query.output == 1 ? outputs.y_h : outputs.y_c;
  return query.map([&](std::int64_t flat) { return wanted[static_cast<std::size_t>(flat)]; });
}

}  // namespace benanza::reference
