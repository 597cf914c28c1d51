// SPDX-License-Identifier: Apache-2.0
// Gradients of functions of one f32 operand: dy times the derivative at the operand or at the result.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

using Fn = ElementwiseFn;

/// exp(-x x / 2) / sqrt(2 pi), the density of the normal distribution.
inline F density(F x) { return 0.398942280F * exp(-0.5F * x * x); }

template <Fn fn>
inline F derivative(F v, [[maybe_unused]] F alpha, [[maybe_unused]] F beta) {
  const F zero = splat(0.0F), one = splat(1.0F);
  if constexpr (fn == Fn::relu) return select(v > zero, one, zero);
  else if constexpr (fn == Fn::sigmoid) return v * (1.0F - v);
  else if constexpr (fn == Fn::tanh) return 1.0F - v * v;
  else if constexpr (fn == Fn::exp) return v;
  else if constexpr (fn == Fn::sqrt) return 0.5F / v;
  else if constexpr (fn == Fn::reciprocal) return -v * v;
  else if constexpr (fn == Fn::elu) return select(v > zero, one, v + alpha);
  else if constexpr (fn == Fn::leaky_relu) return select(v > zero, one, alpha);
  else if constexpr (fn == Fn::hard_sigmoid) return select((v > zero) & (v < one), alpha, zero);
  else if constexpr (fn == Fn::abs) return select(v > zero, one, select(v < zero, -one, zero));
  else if constexpr (fn == Fn::celu) return select(v > zero, one, exp(min(zero, v / alpha)));
  else if constexpr (fn == Fn::clip) return select((v > alpha) & (v < beta), one, zero);
  else if constexpr (fn == Fn::cos) return -sin_shifted(v, 0);
  else if constexpr (fn == Fn::erf) return 1.12837917F * exp(-v * v);
  else if constexpr (fn == Fn::gelu) return 0.5F * (1.0F + erf(v * 0.707106781F)) + v * density(v);
  else if constexpr (fn == Fn::gelu_tanh) {
    const F t = tanh(0.797884561F * (v + 0.044715F * v * v * v));
    return 0.5F * (1.0F + t) + 0.5F * v * (1.0F - t * t) * 0.797884561F * (1.0F + 0.134145F * v * v);
  } else if constexpr (fn == Fn::hard_swish) {
    return select(v <= splat(-3.0F), zero, select(v >= splat(3.0F), one, v * (1.0F / 3.0F) + 0.5F));
  } else if constexpr (fn == Fn::log) return 1.0F / v;
  else if constexpr (fn == Fn::mish) {  // tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2)
    const F e = exp(min(splat(20.0F), v)), n = e * (e + 2.0F), t = n / (n + 2.0F);
    return t + v * (1.0F - t * t) * sigmoid(v);
  } else if constexpr (fn == Fn::selu) return beta * select(v > zero, one, alpha * exp(min(zero, v)));
  else if constexpr (fn == Fn::shrink) return select((v > beta) | (v < -beta), one, zero);
  else if constexpr (fn == Fn::sin) return sin_shifted(v, 1);
  else if constexpr (fn == Fn::softplus) return sigmoid(v);
  else if constexpr (fn == Fn::softsign) return 1.0F / ((1.0F + abs(v)) * (1.0F + abs(v)));
  else if constexpr (fn == Fn::swish) {
    const F s = sigmoid(alpha * v);
    return s + alpha * v * s * (1.0F - s);
  } else return select(v > alpha, one, zero);  // thresholded_relu
}

template <Fn fn>
void unary_gradient(const void* dy, const void* v, void* dx, Index n, float alpha, float beta) {
  const auto *const g = static_cast<const float*>(dy), *const at = static_cast<const float*>(v);
  auto* const y = static_cast<float*>(dx);
  const F a = splat(alpha), b = splat(beta);
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {  // two chains of dependent operations at a time
    const F first = load(g + i) * derivative<fn>(load(at + i), a, b);
    const F second = load(g + i + lanes) * derivative<fn>(load(at + i + lanes), a, b);
    store(y + i, first);
    store(y + i + lanes, second);
  }
  for (; i < n; i += lanes) {
    if (i + lanes <= n) store(y + i, load(g + i) * derivative<fn>(load(at + i), a, b));
    else store_some(y + i, load_some(g + i, n - i, 0.0F) * derivative<fn>(load_some(at + i, n - i, 1.0F), a, b), n - i);
  }
}

template <Fn... fns>
void add_gradients(Kernels& kernels) {
  ((kernels.unary_gradient[static_cast<std::size_t>(fns)] = unary_gradient<fns>), ...);
}

}  // namespace

void add_unary_gradient(Kernels& kernels) {
  add_gradients<Fn::abs, Fn::celu, Fn::clip, Fn::cos, Fn::elu, Fn::erf, Fn::exp, Fn::gelu, Fn::gelu_tanh,
                Fn::hard_sigmoid, Fn::hard_swish, Fn::leaky_relu, Fn::log, Fn::mish, Fn::reciprocal, Fn::relu, Fn::selu,
                Fn::shrink, Fn::sigmoid, Fn::sin, Fn::softplus, Fn::softsign, Fn::sqrt, Fn::swish, Fn::tanh,
                Fn::thresholded_relu>(kernels);
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
