// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: the inputs of all steps are multiplied at once, then the steps run one after another. Threads take
// hidden units of every direction. Before anything is timed, weights are packed into panels and biases are added.
// Weights of 8 bits are widened in the packing, x of 8 bits in each call.
#include "context.hpp"
#include <benanza/model/quantization.hpp>
#include <benanza/plan/element.hpp>

#include <cstring>

namespace benanza::native {

namespace {

/// Sizes of one problem in floats; a panel is a vector of hidden units.
struct Sizes {
  Index steps, batch, units, hidden, ways, gates, biases, lanes;
  Sizes(const op::Recurrent& op, Index vector)
      : steps(op.x[0]),
        batch(op.x[1]),
        units(op.x[2]),
        hidden(op.hidden),
        ways(op.directions),
        gates(op.gates()),
        biases(op.cell == op::Cell::gru ? gates + 1 : gates),
        lanes(vector) {}

  [[nodiscard]] Index panels() const { return (hidden + lanes - 1) / lanes; }
  [[nodiscard]] Index padded() const { return panels() * lanes; }
  [[nodiscard]] Index state() const { return batch * hidden; }
  [[nodiscard]] Index weights(Index below) const { return padded() * below * gates; }
  /// Products of all steps' inputs in one direction.
  [[nodiscard]] Index products() const { return steps * batch * padded() * gates; }
};

/// Packs from way, gate, hidden unit, unit below to way, panel, unit below, gate, lane. `w(i)` is number i.
template <class Weights>
void pack_weights(const Sizes& z, Index below, Weights w, float* packed) {
  for (Index way = 0; way < z.ways; ++way)
    for (Index unit = 0; unit < z.padded(); ++unit)
      for (Index gate = 0; gate < z.gates; ++gate) {
        float* to = packed + way * z.weights(below) + unit / z.lanes * below * z.gates * z.lanes + gate * z.lanes +
                    unit % z.lanes;
        for (Index i = 0; i < below; ++i, to += z.gates * z.lanes)
          *to = unit < z.hidden ? w(((way * z.gates + gate) * z.hidden + unit) * below + i) : 0.0F;
      }
}

/// b holds the biases of w, then those of r. The last gate of a GRU keeps both, with that of r last.
void pack_biases(const Sizes& z, const float* b, float* packed) {
  const bool apart = z.biases > z.gates;
  for (Index way = 0; way < z.ways; ++way)
    for (Index unit = 0; unit < z.padded(); ++unit)
      for (Index i = 0; i < z.biases; ++i) {
        const auto bias = [&](Index of) { return b[(way * 2 * z.gates + of) * z.hidden + unit]; };
        float& to = packed[((way * z.panels() + unit / z.lanes) * z.biases + i) * z.lanes + unit % z.lanes];
        if (unit >= z.hidden) to = 0;
        else if (i == z.gates) to = bias(z.gates + i - 1);
        else if (apart && i == z.gates - 1) to = bias(i);
        else to = bias(i) + bias(z.gates + i);
      }
}

class RecurrentPlan final : public Plan {
 public:
  RecurrentPlan(const op::Recurrent& op, const Context& context, const Sizes& sizes)
      : Plan({.algorithm = std::string(op.weight_type ? "widened:" : "") +
                           "recurrent:panels,threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = layouts(op, sizes),
              .outputs = plain_layouts(op.operands().outputs),
              .workspace_bytes = bytes(sizes.ways * sizes.products() + cells(sizes) +
                                       (op.weight_type ? sizes.steps * sizes.batch * sizes.units : 0))}),
        op_(op),
        numbers_(quantization(op)),
        sizes_(sizes),
        kernels_(context.kernels),
        pool_(context.pool) {
    if (!op.bias) no_bias_.assign(static_cast<std::size_t>(sizes.ways * sizes.padded() * sizes.biases), 0.0F);
  }

 private:
  static std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }
  /// Elements of the cell states of all directions.
  static Index cells(const Sizes& z) { return z.ways * z.batch * z.padded(); }
  static std::vector<Layout> layouts(const op::Recurrent& op, const Sizes& z) {
    auto result = plain_layouts(op.operands().inputs);
    const std::string name = "panels" + std::to_string(z.lanes);
    result[1] = {name, bytes(z.ways * z.weights(z.units))};
    result[2] = {name, bytes(z.ways * z.weights(z.hidden))};
    if (op.bias) result[3] = {name, bytes(z.ways * z.padded() * z.biases)};
    return result;
  }

  void do_pack_input(std::size_t i, const void* plain, void* packed) const override {
    const auto* const from = static_cast<const float*>(plain);
    auto* const to = static_cast<float*>(packed);
    const Index below = i == 1 ? sizes_.units : sizes_.hidden;
    const auto number = [&](Index at) { return from[at]; };
    const auto widened = [&](Index at) {
      return static_cast<float>((load(plain, *op_.weight_type, at) - numbers_.w_zero) * numbers_.rescale);
    };
    if (i == 3 && op_.bias) pack_biases(sizes_, from, to);
    else if (i != 1 && i != 2) std::memcpy(packed, plain, inputs()[i].bytes);
    else if (op_.weight_type) pack_weights(sizes_, below, widened, to);
    else pack_weights(sizes_, below, number, to);
  }

  /// x in f32: the input itself, or a copy written to `to`.
  const float* x(const Arguments& arguments, float* to) const {
    if (!op_.weight_type) return input<float>(arguments, 0);
    const auto* const given = input<std::byte>(arguments, 0);  // 8-bit values
    const auto zero = static_cast<float>(numbers_.x_zero);
    pool_->split(sizes_.steps * sizes_.batch * sizes_.units, threads(), 64, [&](Index begin, Index end) {
      kernels_.to_f32[static_cast<std::size_t>(*stored(op_.type))](given + begin, to + begin, end - begin);
      for (Index i = begin; i < end; ++i) to[i] -= zero;
    });
    return to;
  }

  void do_execute(const Arguments& arguments) const override {
    const Sizes& z = sizes_;
    const auto cell = static_cast<std::size_t>(op_.cell);
    auto* const from_x = static_cast<float*>(arguments.workspace);
    float* const c = from_x + z.ways * z.products();
    const float* const wide_x = x(arguments, c + cells(z));
    const std::size_t states = op_.bias ? 4 : 3;
    const float* const bias = op_.bias ? input<float>(arguments, 3) : no_bias_.data();
    const float* const initial_h = op_.initial_state ? input<float>(arguments, states) : nullptr;
    const float* const initial_c =
        op_.initial_state && op_.cell == op::Cell::lstm ? input<float>(arguments, states + 1) : nullptr;
    auto* const y = output<float>(arguments);

    pool_->split(z.ways * z.panels(), threads(), 1, [&](Index begin, Index end) {
      // Panels of one direction follow those of the other, both in w and in the products.
      kernels_.recurrent_input[cell]({.x = wide_x,
                                      .w = input<float>(arguments, 1),
                                      .y = from_x,
                                      .rows = z.steps * z.batch,
                                      .units = z.units,
                                      .first_panel = begin,
                                      .last_panel = end});
    });
    for (Index row = 0; row < z.ways * z.batch; ++row) {
      float* const state = c + row * z.padded();
      std::memset(state, 0, bytes(z.padded()));
      if (initial_c != nullptr) std::memcpy(state, initial_c + row * z.hidden, bytes(z.hidden));
    }

    const auto forwards = [&](Index way) { return way == 0 && !op_.reverse; };
    const auto state = [&](Index time, Index way) { return y + (time * z.ways + way) * z.state(); };
    for (Index step = 0; step < z.steps; ++step)
      pool_->split(z.panels(), threads(), 1, [&](Index begin, Index end) {
        for (Index way = 0; way < z.ways; ++way) {
          const Index time = forwards(way) ? step : z.steps - 1 - step;
          const float* const first = initial_h == nullptr ? nullptr : initial_h + way * z.state();
          kernels_.recurrent_step[cell]({.h = step == 0 ? first : state(forwards(way) ? time - 1 : time + 1, way),
                                         .r = input<float>(arguments, 2) + way * z.weights(z.hidden),
                                         .bias = bias + way * z.padded() * z.biases,
                                         .from_x = from_x + way * z.products() + time * z.batch * z.gates * z.lanes,
                                         .from_x_rows = z.steps * z.batch,
                                         .c = c + way * z.batch * z.padded(),
                                         .y = state(time, way),
                                         .batch = z.batch,
                                         .hidden = z.hidden,
                                         .first_panel = begin,
                                         .last_panel = end,
                                         .back = step % 2 != 0});
        }
      });

    for (Index way = 0; way < z.ways; ++way)
      std::memcpy(output<float>(arguments, 1) + way * z.state(), state(forwards(way) ? z.steps - 1 : 0, way),
                  bytes(z.state()));
    if (op_.cell == op::Cell::lstm)
      for (Index row = 0; row < z.ways * z.batch; ++row)
        std::memcpy(output<float>(arguments, 2) + row * z.hidden, c + row * z.padded(), bytes(z.hidden));
  }

  op::Recurrent op_;
  Quantization numbers_;
  Sizes sizes_;
  const Kernels& kernels_;
  std::shared_ptr<const ThreadPool> pool_;
  std::vector<float> no_bias_{};
};

}  // namespace

Result plans(const op::Recurrent& op, const Context& context) {
  if (op.state_type() != DataType::f32) return unsupported(op.kind, op.type);
  if (const auto part = op.rare_part();
      !part.empty() && !(op.weight_type && !op.peepholes && !op.batch_first && !op.rows))
    return Unsupported{"no recurrence with " + std::string(part) + " in backend native"};
  if (op.cell == op::Cell::gru && !op.linear_before_reset)
    return Unsupported{"no GRU that resets the state before its product in backend native"};
  Plans plans;
  plans.push_back(std::make_unique<RecurrentPlan>(op, context, Sizes(op, context.kernels.lanes)));
  return plans;
}

}  // namespace benanza::native
