// SPDX-License-Identifier: Apache-2.0
// Gradient of LSTM, GRU and RNN: the steps run one after another, starting with the last step of the forward pass. In
// each, threads take hidden units of every direction: first the product with the weights, which yields the gradients of
// their states, then those of their gates.
#include "context.hpp"

#include <cstring>

namespace benanza::native {

namespace {

class RecurrentGradientPlan final : public Plan {
 public:
  RecurrentGradientPlan(const op::RecurrentGradient& op, const Context& context)
      : Plan({.algorithm = "recurrent:panels,threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = layouts(op, context.kernels.lanes),
              .outputs = plain_layouts(op.operands().outputs),
              .workspace_bytes = bytes(states(op, context.kernels.lanes) * (op.cell == op::Cell::lstm ? 2 : 1))}),
        op_(op),
        lanes_(context.kernels.lanes),
        kernel_(context.kernels.recurrent_back[static_cast<std::size_t>(op.cell)]),
        pool_(context.pool) {}

 private:
  static std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }
  static Index padded(const op::RecurrentGradient& op, Index lanes) { return (op.y[2] + lanes - 1) / lanes * lanes; }
  static Index states(const op::RecurrentGradient& op, Index lanes) {
    return op.directions * op.y[1] * padded(op, lanes);
  }
  /// The index of the weights among the inputs.
  static std::size_t weights(const op::RecurrentGradient& op) {
    return (op.every_step ? 1U : 0U) + (op.last_h ? 1U : 0U) + (op.last_c ? 1U : 0U);
  }
  static std::vector<Layout> layouts(const op::RecurrentGradient& op, Index lanes) {
    auto made = plain_layouts(op.operands().inputs);
    made[weights(op)] = {"panels" + std::to_string(lanes),
                         bytes(op.directions * op.gates() * op.y[2] * padded(op, lanes))};
    return made;
  }

  /// Packs from way, gate and hidden unit, hidden unit of the step before to way, panel of the latter, the former,
  /// lane.
  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    if (i != weights(op_)) {
      std::memcpy(packed, plain, inputs()[i].bytes);
      return;
    }
    const auto* const from = static_cast<const float*>(plain);
    auto* to = static_cast<float*>(packed);
    const Index hidden = op_.y[2], depth = op_.gates() * hidden;
    for (Index way = 0; way < op_.directions; ++way)
      for (Index panel = 0; panel < padded(op_, lanes_); panel += lanes_)
        for (Index k = 0; k < depth; ++k)
          for (Index unit = panel; unit < panel + lanes_; ++unit)
            *to++ = unit < hidden ? from[(way * depth + k) * hidden + unit] : 0.0F;
  }

  /// Copies contiguous rows of hidden units to rows of whole vectors, or back.
  void spread(const float* from, float* to) const {
    const Index hidden = op_.y[2], wide = padded(op_, lanes_);
    for (Index row = 0; row < op_.directions * op_.y[1]; ++row)
      std::memcpy(to + row * wide, from + row * hidden, bytes(hidden));
  }
  void gather(const float* from, float* to) const {
    const Index hidden = op_.y[2], wide = padded(op_, lanes_);
    for (Index row = 0; row < op_.directions * op_.y[1]; ++row)
      std::memcpy(to + row * hidden, from + row * wide, bytes(hidden));
  }

  void do_execute(const Arguments& arguments) const override {
    const bool lstm = op_.cell == op::Cell::lstm, rnn = op_.cell == op::Cell::rnn;
    const Index steps = op_.y[0], batch = op_.y[1], hidden = op_.y[2], wide = padded(op_, lanes_);
    std::size_t next = 0;
    const auto take = [&](bool given) { return given ? input<float>(arguments, next++) : nullptr; };
    const float *const dy = take(op_.every_step), *const dy_h = take(op_.last_h), *const dy_c = take(op_.last_c),
                       *const r = take(true), *const gates = take(!rnn), *const states = take(true),
                       *const initial = take(op_.initial_state);
    auto* const dh = static_cast<float*>(arguments.workspace);
    float* const dc = lstm ? dh + op_.directions * batch * wide : nullptr;
    std::memset(dh, 0, workspace_bytes());
    if (dy_h != nullptr) spread(dy_h, dh);
    if (dy_c != nullptr) spread(dy_c, dc);
    auto* const dgates = output<float>(arguments);
    const Index row = op_.gradients() * hidden, step_gates = batch * row, state = batch * hidden;

    const auto run = [&](Index i) {  // steps in forward order; -1 is before the first
      pool_->split(wide / lanes_, threads(), 1, [&](Index begin, Index end) {
        for (Index way = 0; way < op_.directions; ++way) {
          const bool from_end = way == 1 || op_.reverse;
          const auto time = [&](Index step) { return from_end ? steps - 1 - step : step; };
          const auto at = [&](Index step) { return (time(step) * op_.directions + way) * state; };
          RecurrentBack a{.r = r + way * op_.gates() * hidden * wide,
                          .dh = dh + way * batch * wide,
                          .dc = lstm ? dc + way * batch * wide : nullptr,
                          .batch = batch,
                          .hidden = hidden,
                          .row = row,
                          .first_panel = begin,
                          .last_panel = end};
          if (i + 1 < steps) a.next = dgates + (way * steps + time(i + 1)) * step_gates;
          if (i >= 0) {
            a.dgates = dgates + (way * steps + time(i)) * step_gates;
            if (dy != nullptr) a.dy = dy + at(i);
            if (!rnn) a.gates = gates + (time(i) * op_.directions + way) * step_gates;
            a.state = states + at(i);
            if (i > 0) a.before = states + at(i - 1);
            else if (initial != nullptr) a.before = initial + way * state;
          }
          kernel_(a);
        }
      });
    };
    for (Index i = steps; i-- > 0;) run(i);
    if (!op_.to_initial) return;
    run(-1);
    gather(dh, output<float>(arguments, 1));
    if (lstm) gather(dc, output<float>(arguments, 2));
  }

  op::RecurrentGradient op_;
  Index lanes_;
  void (*kernel_)(const RecurrentBack& a);
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

Result plans(const op::RecurrentGradient& op, const Context& context) {
  if (op.type != DataType::f32) return unsupported(op.kind, op.type);
  if (op.cell == op::Cell::gru && !op.linear_before_reset)
    return Unsupported{"no GRU that resets the state before its product in backend native"};
  Plans plans;
  plans.push_back(std::make_unique<RecurrentGradientPlan>(op, context));
  return plans;
}

}  // namespace benanza::native
