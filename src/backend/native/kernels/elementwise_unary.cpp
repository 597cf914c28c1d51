// SPDX-License-Identifier: Apache-2.0
// Functions of one f32 operand.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

using Fn = ElementwiseFn;

template <Fn fn>
inline F apply(F x, [[maybe_unused]] F alpha, [[maybe_unused]] F beta) {
  const F zero = splat(0.0F), one = splat(1.0F);
  if constexpr (fn == Fn::abs) return abs(x);
  else if constexpr (fn == Fn::ceil) return ceil(x);
  else if constexpr (fn == Fn::celu)
    return max(zero, x) + min(zero, alpha * (exp_bounded(min(zero, x / alpha)) - 1.0F));
  else if constexpr (fn == Fn::clip) return min(beta, max(alpha, x));
  else if constexpr (fn == Fn::cos) return sin_shifted(x, 1);
  else if constexpr (fn == Fn::elu) return select(x > zero, x, alpha * (exp_bounded(min(zero, x)) - 1.0F));
  else if constexpr (fn == Fn::erf) return erf(x);
  else if constexpr (fn == Fn::exp) return exp(x);
  else if constexpr (fn == Fn::floor) return floor(x);
  else if constexpr (fn == Fn::gelu) return 0.5F * x * (1.0F + erf(x * 0.707106781F));
  else if constexpr (fn == Fn::gelu_tanh) {
    return x / logistic_denominator(1.59576912F * (x + 0.044715F * x * x * x));  // (1 + tanh(u)) / 2, logistic in 2u
  } else if constexpr (fn == Fn::hard_sigmoid) return max(zero, min(one, alpha * x + beta));
  else if constexpr (fn == Fn::hard_swish) return x * max(zero, min(one, x * (1.0F / 6.0F) + 0.5F));
  else if constexpr (fn == Fn::leaky_relu) return select(x < zero, alpha * x, x);
  else if constexpr (fn == Fn::log) return log(x);
  else if constexpr (fn == Fn::mish) {  // tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2)
    const F e = exp(min(splat(20.0F), x)), n = e * (e + 2.0F);
    return x * (n / (n + 2.0F));
  } else if constexpr (fn == Fn::neg) return -x;
  else if constexpr (fn == Fn::reciprocal) return 1.0F / x;
  else if constexpr (fn == Fn::relu) return max(x, zero);
  else if constexpr (fn == Fn::round) return round(x);
  else if constexpr (fn == Fn::selu) return beta * select(x > zero, x, alpha * (exp_bounded(min(zero, x)) - 1.0F));
  else if constexpr (fn == Fn::shrink) return select(x < -beta, x + alpha, select(x > beta, x - alpha, zero));
  else if constexpr (fn == Fn::sigmoid) return sigmoid(x);
  else if constexpr (fn == Fn::sign) return select(x > zero, one, select(x < zero, -one, x));
  else if constexpr (fn == Fn::sin) return sin_shifted(x, 0);
  else if constexpr (fn == Fn::softplus) return softplus(x);
  else if constexpr (fn == Fn::softsign) return x / (1.0F + abs(x));
  else if constexpr (fn == Fn::sqrt) return sqrt(x);
  else if constexpr (fn == Fn::square) return x * x;
  else if constexpr (fn == Fn::swish) return x / logistic_denominator(alpha * x);
  else if constexpr (fn == Fn::tanh) return tanh(x);
  else return select(x > alpha, x, zero);  // thresholded_relu
}

template <Fn fn>
void vectorized(const void* from, void* to, Index n, float alpha, float beta) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  const F a = splat(alpha), b = splat(beta);
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {  // two chains of dependent operations at a time
    const F first = apply<fn>(load(x + i), a, b), second = apply<fn>(load(x + i + lanes), a, b);
    store(y + i, first);
    store(y + i + lanes, second);
  }
  for (; i < n; i += lanes) {
    if (i + lanes <= n) store(y + i, apply<fn>(load(x + i), a, b));
    else store_some(y + i, apply<fn>(load_some(x + i, n - i, 1.0F), a, b), n - i);
  }
}

/// Sine and cosine of arguments beyond the vector form's range reduction go through the C library.
template <Fn fn>
void trigonometric(const void* from, void* to, Index n, float alpha, float beta) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  vectorized<fn>(from, to, n, alpha, beta);
  if (x == y) return;
  for (Index i = 0; i < n; i += lanes) {
    const F v = i + lanes <= n ? load(x + i) : load_some(x + i, n - i, 0.0F);
    if (!any(abs(v) > 8192.0F)) continue;
    for (Index j = i; j < n && j < i + lanes; ++j) y[j] = fn == Fn::sin ? __builtin_sinf(x[j]) : __builtin_cosf(x[j]);
  }
}

template <float (*fn)(float)>
void scalar(const void* from, void* to, Index n, float, float) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  for (Index i = 0; i < n; ++i) y[i] = fn(x[i]);
}
float scalar_acos(float x) { return __builtin_acosf(x); }
float scalar_acosh(float x) { return __builtin_acoshf(x); }
float scalar_asin(float x) { return __builtin_asinf(x); }
float scalar_asinh(float x) { return __builtin_asinhf(x); }
float scalar_atan(float x) { return __builtin_atanf(x); }
float scalar_cosh(float x) { return __builtin_coshf(x); }
float scalar_sinh(float x) { return __builtin_sinhf(x); }
float scalar_tan(float x) { return __builtin_tanf(x); }

template <Fn fn>
void predicate(const void* from, void* to, Index n, float, float) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<std::uint8_t*>(to);
  for (Index i = 0; i < n; ++i) {
    if constexpr (fn == Fn::is_nan) y[i] = x[i] != x[i];
    else y[i] = __builtin_fabsf(x[i]) == __builtin_inff();
  }
}

template <Fn... fns>
void add_vectorized(UnaryKernel (&table)[elementwise_fns]) {
  ((table[static_cast<std::size_t>(fns)] = vectorized<fns>), ...);
}

}  // namespace

void add_unary(Kernels& kernels) {
  auto& table = kernels.unary[static_cast<std::size_t>(Arithmetic::f32)];
  const auto set = [&](ElementwiseFn fn, UnaryKernel kernel) { table[static_cast<std::size_t>(fn)] = kernel; };
  add_vectorized<Fn::abs, Fn::ceil, Fn::celu, Fn::clip, Fn::elu, Fn::erf, Fn::exp, Fn::floor, Fn::gelu, Fn::gelu_tanh,
                 Fn::hard_sigmoid, Fn::hard_swish, Fn::leaky_relu, Fn::log, Fn::mish, Fn::neg, Fn::reciprocal, Fn::relu,
                 Fn::round, Fn::selu, Fn::shrink, Fn::sigmoid, Fn::sign, Fn::softplus, Fn::softsign, Fn::sqrt,
                 Fn::square, Fn::swish, Fn::tanh, Fn::thresholded_relu>(table);
  set(Fn::sin, trigonometric<Fn::sin>);
  set(Fn::cos, trigonometric<Fn::cos>);
  set(Fn::acos, scalar<scalar_acos>);
  set(Fn::acosh, scalar<scalar_acosh>);
  set(Fn::asin, scalar<scalar_asin>);
  set(Fn::asinh, scalar<scalar_asinh>);
  set(Fn::atan, scalar<scalar_atan>);
  set(Fn::cosh, scalar<scalar_cosh>);
  set(Fn::sinh, scalar<scalar_sinh>);
  set(Fn::tan, scalar<scalar_tan>);
  set(Fn::is_nan, predicate<Fn::is_nan>);
  set(Fn::is_inf, predicate<Fn::is_inf>);
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
