// SPDX-License-Identifier: Apache-2.0
// Gradients of normalisations and of depthwise convolutions, and optimizers' steps.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// Calls `visit(i, take, put)` for whole vectors and once for the remainder: `take(p)` loads from p, `put(p, v)` stores
/// to p.
template <class Visit>
inline void for_vectors(Index n, Visit visit) {
  Index i = 0;
  for (; i + lanes <= n; i += lanes)
    visit([i](const float* p) { return load(p + i); }, [i](float* p, F v) { store(p + i, v); });
  if (i < n)
    visit([i, n](const float* p) { return load_some(p + i, n - i, 0.0F); },
          [i, n](float* p, F v) { store_some(p + i, v, n - i); });
}

/// Blocks keep the float sums short; missing elements of dy are 0.
void norm_gradient_sums(const float* dy, const float* x, const float* scale, float mean, Index n, double* sums) {
  constexpr Index block = 4096;
  const F center = splat(mean);
  for (Index begin = 0; begin < n; begin += block) {
    const Index some = begin + block < n ? block : n - begin;
    F total[2] = {}, product[2] = {};
    const float *const g = dy + begin, *const v = x + begin, *const s = scale == nullptr ? nullptr : scale + begin;
    Index i = 0;
    for (; i + 2 * lanes <= some; i += 2 * lanes)
      for (int j = 0; j < 2; ++j) {
        F gradient = load(g + i + j * lanes);
        if (s != nullptr) gradient = gradient * load(s + i + j * lanes);
        total[j] += gradient;
        product[j] += gradient * (load(v + i + j * lanes) - center);
      }
    for (; i < some; i += lanes) {
      const Index rest = some - i < lanes ? some - i : lanes;
      const auto take = [&](const float* p) { return rest == lanes ? load(p) : load_some(p, rest, 0.0F); };
      F gradient = take(g + i);
      if (s != nullptr) gradient = gradient * take(s + i);
      total[0] += gradient;
      product[0] += gradient * (take(v + i) - center);
    }
    sums[0] += sum(total[0] + total[1]);
    sums[1] += sum(product[0] + product[1]);
  }
}

void norm_gradient(const float* dy, const float* x, const float* scale, float factor, float slope, float shift,
                   float* dx, Index n) {
  const F f = splat(factor), s = splat(slope), b = splat(shift);
  if (scale == nullptr) for_vectors(n, [&](auto take, auto put) { put(dx, take(dy) * f + (take(x) * s + b)); });
  else for_vectors(n, [&](auto take, auto put) { put(dx, take(dy) * take(scale) * f + (take(x) * s + b)); });
}

void norm_gradient_weights(const float* dy, const float* x, float mean, float factor, float* dscale, float* dbias,
                           Index n) {
  const F center = splat(mean), f = splat(factor);
  if (dbias == nullptr) {
    for_vectors(n, [&](auto take, auto put) { put(dscale, take(dscale) + take(dy) * ((take(x) - center) * f)); });
    return;
  }
  for_vectors(n, [&](auto take, auto put) {
    const F gradient = take(dy);
    put(dscale, take(dscale) + gradient * ((take(x) - center) * f));
    put(dbias, take(dbias) + gradient);
  });
}

void sgd(float* w, const float* dw, float*, float*, Index n, const OptimizerNumbers& by) {
  const F rate = splat(by.rate);
  for_vectors(n, [&](auto take, auto put) { put(w, take(w) - take(dw) * rate); });
}
void momentum(float* w, const float* dw, float* velocity, float*, Index n, const OptimizerNumbers& by) {
  const F rate = splat(by.rate), decay = splat(by.decay);
  for_vectors(n, [&](auto take, auto put) {
    const F v = take(velocity) * decay + take(dw);
    put(velocity, v);
    put(w, take(w) - v * rate);
  });
}
void adam(float* w, const float* dw, float* moment, float* variance, Index n, const OptimizerNumbers& by) {
  const F beta1 = splat(by.beta1), rest1 = splat(1 - by.beta1), beta2 = splat(by.beta2), rest2 = splat(1 - by.beta2);
  const F rate = splat(by.rate / by.correction1), correction = splat(1 / by.correction2), epsilon = splat(by.epsilon);
  const F keep = splat(by.keep);
  for_vectors(n, [&](auto take, auto put) {
    const F g = take(dw);
    const F m = take(moment) * beta1 + g * rest1, v = take(variance) * beta2 + g * g * rest2;
    put(moment, m);
    put(variance, v);
    put(w, take(w) * keep - rate * m / (sqrt(v * correction) + epsilon));
  });
}

/// The sums stay in registers; few taps use two sums each, since each addition waits for the previous one.
template <int taps>
inline void few_window_products(const float* x, Index step, Index tap, const float* dy, Index n, float* sums) {
  constexpr int chains = taps <= 4 ? 2 : 1;
  F total[chains][taps] = {};
  for (int t = 0; t < taps; ++t) total[0][t] = load(sums + t * lanes);
  Index i = 0;
  for (; i + chains <= n; i += chains)
#pragma GCC unroll 2
    for (int c = 0; c < chains; ++c) {
      const F gradient = load(dy + (i + c) * lanes);
#pragma GCC unroll 7
      for (int t = 0; t < taps; ++t) total[c][t] += gradient * load(x + (i + c) * step + t * tap);
    }
  for (; i < n; ++i)
    for (int t = 0; t < taps; ++t) total[0][t] += load(dy + i * lanes) * load(x + i * step + t * tap);
  for (int t = 0; t < taps; ++t)
    store(sums + t * lanes, chains == 2 ? total[0][t] + total[chains - 1][t] : total[0][t]);
}
void window_products(const float* x, Index step, Index tap, const float* dy, Index n, float* sums, Index taps) {
  constexpr Index most = 7;
  for (; taps > most; taps -= most, x += most * tap, sums += most * lanes)
    few_window_products<most>(x, step, tap, dy, n, sums);
  switch (taps) {
    case 1: return few_window_products<1>(x, step, tap, dy, n, sums);
    case 2: return few_window_products<2>(x, step, tap, dy, n, sums);
    case 3: return few_window_products<3>(x, step, tap, dy, n, sums);
    case 4: return few_window_products<4>(x, step, tap, dy, n, sums);
    case 5: return few_window_products<5>(x, step, tap, dy, n, sums);
    case 6: return few_window_products<6>(x, step, tap, dy, n, sums);
    default: return few_window_products<most>(x, step, tap, dy, n, sums);
  }
}

}  // namespace

void add_gradient(Kernels& kernels) {
  kernels.norm_gradient_sums = norm_gradient_sums;
  kernels.norm_gradient = norm_gradient;
  kernels.norm_gradient_weights = norm_gradient_weights;
  kernels.window_products = window_products;
  kernels.optimizer[0] = sgd;
  kernels.optimizer[1] = momentum;
  kernels.optimizer[2] = kernels.optimizer[3] = adam;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
