// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: the products of all steps' inputs, and one step. Weights are in panels, one for each vector of
// hidden units: panel[unit below][gate][hidden unit], so that all gates of a hidden unit end up in registers together.
#include "kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/product.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// The parts of the gates of one vector of hidden units: products with x and with the state, and biases.
struct Sums {
  const float *x, *h, *bias;
  F of(int gate) const { return load(x + gate * lanes) + load(h + gate * lanes) + load(bias + gate * lanes); }
};

/// ONNX's order of gates: i o f c.
struct Lstm {
  static constexpr int gates = 4, biases = 4;
  static F next(const Sums& sums, F, float* c) {
    const F cell = sigmoid(sums.of(2)) * load(c) + sigmoid(sums.of(0)) * tanh(sums.of(3));
    store(c, cell);
    return sigmoid(sums.of(1)) * tanh(cell);
  }
};

/// z r h; the reset gate scales the sum of the product with the state and its bias, the last one (linear_before_reset).
struct Gru {
  static constexpr int gates = 3, biases = 4;
  static F next(const Sums& sums, F h, float*) {
    const F z = sigmoid(sums.of(0)), reset = sigmoid(sums.of(1));
    const F linear = load(sums.h + 2 * lanes) + load(sums.bias + 3 * lanes);
    const F candidate = tanh(load(sums.x + 2 * lanes) + load(sums.bias + 2 * lanes) + reset * linear);
    return (1.0F - z) * candidate + z * h;
  }
};

struct Rnn {
  static constexpr int gates = 1, biases = 1;
  static F next(const Sums& sums, F, float*) { return tanh(sums.of(0)); }
};

// A part of x that stays in the second-level cache while the panels pass, and in the first-level cache with its part of
// one panel.
constexpr Index chunk_rows = 96, chunk_units = 256;

template <class Cell>
void input(const RecurrentInput& a) {
  constexpr int stride = Cell::gates * lanes, at_once = rows_at_once<Cell::gates>;
  for (Index row = 0; row < a.rows; row += chunk_rows) {
    const Index rows = a.rows - row < chunk_rows ? a.rows - row : chunk_rows;
    for (Index unit = 0; unit < a.units; unit += chunk_units) {
      const Index units = a.units - unit < chunk_units ? a.units - unit : chunk_units;
      for (Index panel = a.first_panel; panel < a.last_panel; ++panel) {
        const float* const w = a.w + (panel * a.units + unit) * stride;
        float* const y = a.y + (panel * a.rows + row) * stride;
        for (Index r = 0; r < rows; r += at_once)
          product_of_rows<Cell::gates>(rows - r < at_once ? rows - r : at_once, a.x + (row + r) * a.units + unit,
                                       a.units, w, stride, units, y + r * stride, stride, unit != 0);
      }
    }
  }
}

template <class Cell>
void step(const RecurrentStep& a) {
  constexpr int stride = Cell::gates * lanes, at_once = rows_at_once<Cell::gates>;
  const Index panels = (a.hidden + lanes - 1) / lanes;
  for (Index i = a.first_panel; i < a.last_panel; ++i) {
    // Every other step runs backwards, so that it starts with the panels that are still in the caches.
    const Index panel = a.back ? a.first_panel + a.last_panel - 1 - i : i, unit = panel * lanes;
    const Index some = a.hidden - unit < lanes ? a.hidden - unit : lanes;
    for (Index row = 0; row < a.batch; row += at_once) {
      const Index rows = a.batch - row < at_once ? a.batch - row : at_once;
      float of_h[at_once * stride] = {};
      if (a.h != nullptr)
        product_of_rows<Cell::gates>(rows, a.h + row * a.hidden, a.hidden, a.r + panel * a.hidden * stride, stride,
                                     a.hidden, of_h, stride, false);
      for (Index r = 0; r < rows; ++r) {
        const Index at = (row + r) * a.hidden + unit;
        const Sums sums{.x = a.from_x + (panel * a.from_x_rows + row + r) * stride,
                        .h = of_h + r * stride,
                        .bias = a.bias + panel * Cell::biases * lanes};
        const F h = a.h == nullptr ? splat(0.0F) : some < lanes ? load_some(a.h + at, some, 0.0F) : load(a.h + at);
        const F y = Cell::next(sums, h, a.c + (row + r) * panels * lanes + unit);
        if (some < lanes) store_some(a.y + at, y, some);
        else store(a.y + at, y);
      }
    }
  }
}

/// One vector of hidden units of one image, in the backward pass.
struct Units {
  const RecurrentBack& a;
  Index at, row, some;  // in batch x hidden, in rows of gates
  [[nodiscard]] F load(const float* p) const {
    return p == nullptr ? splat(0.0F) : some < lanes ? load_some(p, some, 0.0F) : BENANZA_NATIVE_ISA::load(p);
  }
  [[nodiscard]] F gate(int i) const { return load(a.gates + row + i * a.hidden); }
  [[nodiscard]] F state() const { return load(a.state + at); }
  [[nodiscard]] F before() const { return a.before == nullptr ? splat(0.0F) : load(a.before + at); }
  void give(int i, F v) const {
    float* const to = a.dgates + row + i * a.hidden;
    if (some < lanes) store_some(to, v, some);
    else store(to, v);
  }
};

/// Computes the gradients of the gates. Returns the part of the state's gradient that bypasses the product with r.
struct LstmBack {
  static constexpr int gates = 4;
  static F step(const Units& u, F dh, float* dc) {
    const F in = u.gate(0), out = u.gate(1), forget = u.gate(2), cell = u.gate(3), bent = tanh(u.state());
    const F d = load(dc) + dh * out * (1.0F - bent * bent);
    u.give(0, d * cell * in * (1.0F - in));
    u.give(1, dh * bent * out * (1.0F - out));
    u.give(2, d * u.before() * forget * (1.0F - forget));
    u.give(3, d * in * (1.0F - cell * cell));
    store(dc, d * forget);
    return splat(0.0F);
  }
};

/// linear_before_reset: the last gate's gradient before the reset, then after it.
struct GruBack {
  static constexpr int gates = 3;
  static F step(const Units& u, F dh, float*) {
    const F z = u.gate(0), reset = u.gate(1), candidate = u.gate(2);
    const F of_input = dh * (1.0F - z) * (1.0F - candidate * candidate);
    u.give(0, dh * (u.before() - candidate) * z * (1.0F - z));
    u.give(1, of_input * u.gate(3) * reset * (1.0F - reset));
    u.give(2, of_input * reset);
    u.give(3, of_input);
    return dh * z;
  }
};

struct RnnBack {
  static constexpr int gates = 1;
  static F step(const Units& u, F dh, float*) {
    const F y = u.state();
    u.give(0, dh * (1.0F - y * y));
    return splat(0.0F);
  }
};

template <class Cell>
void back(const RecurrentBack& a) {
  constexpr int at_once = rows_at_once<1>;
  const Index panels = (a.hidden + lanes - 1) / lanes, depth = Cell::gates * a.hidden;
  for (Index panel = a.first_panel; panel < a.last_panel; ++panel) {
    const Index unit = panel * lanes;
    const Index some = a.hidden - unit < lanes ? a.hidden - unit : lanes;
    for (Index row = 0; row < a.batch; row += at_once) {
      const Index rows = a.batch - row < at_once ? a.batch - row : at_once;
      float through[at_once * lanes] = {};
      if (a.next != nullptr)
        product_of_rows<1>(rows, a.next + row * a.row, a.row, a.r + panel * depth * lanes, lanes, depth, through, lanes,
                           false);
      for (Index i = 0; i < rows; ++i) {
        const Index kept = (row + i) * panels * lanes + unit;
        const Units u{.a = a, .at = (row + i) * a.hidden + unit, .row = (row + i) * a.row + unit, .some = some};
        F dh = load(a.dh + kept) + load(through + i * lanes);
        if (a.dy != nullptr) dh += u.load(a.dy + u.at);
        store(a.dh + kept, a.dgates == nullptr ? dh : Cell::step(u, dh, a.dc == nullptr ? nullptr : a.dc + kept));
      }
    }
  }
}

}  // namespace

void add_recurrent(Kernels& kernels) {
  kernels.lanes = lanes;
  kernels.recurrent_input[0] = input<Rnn>;
  kernels.recurrent_input[1] = input<Gru>;
  kernels.recurrent_input[2] = input<Lstm>;
  kernels.recurrent_step[0] = step<Rnn>;
  kernels.recurrent_step[1] = step<Gru>;
  kernels.recurrent_step[2] = step<Lstm>;
  kernels.recurrent_back[0] = back<RnnBack>;
  kernels.recurrent_back[1] = back<GruBack>;
  kernels.recurrent_back[2] = back<LstmBack>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
