// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of f64: plain loops, which the compiler vectorises if the function does not call the C
// library.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

using Fn = ElementwiseFn;

template <Fn fn>
inline double apply(double x, [[maybe_unused]] double alpha, [[maybe_unused]] double beta) {
  const auto least = [](double a, double b) { return a < b ? a : b; };
  const auto most = [](double a, double b) { return a > b ? a : b; };
  if constexpr (fn == Fn::abs) return __builtin_fabs(x);
  else if constexpr (fn == Fn::acos) return __builtin_acos(x);
  else if constexpr (fn == Fn::acosh) return __builtin_acosh(x);
  else if constexpr (fn == Fn::asin) return __builtin_asin(x);
  else if constexpr (fn == Fn::asinh) return __builtin_asinh(x);
  else if constexpr (fn == Fn::atan) return __builtin_atan(x);
  else if constexpr (fn == Fn::atanh) return __builtin_atanh(x);
  else if constexpr (fn == Fn::ceil) return __builtin_ceil(x);
  else if constexpr (fn == Fn::clip) return least(beta, most(alpha, x));
  else if constexpr (fn == Fn::cos) return __builtin_cos(x);
  else if constexpr (fn == Fn::cosh) return __builtin_cosh(x);
  else if constexpr (fn == Fn::elu) return x > 0 ? x : alpha * (__builtin_exp(x) - 1);
  else if constexpr (fn == Fn::erf) return __builtin_erf(x);
  else if constexpr (fn == Fn::exp) return __builtin_exp(x);
  else if constexpr (fn == Fn::floor) return __builtin_floor(x);
  else if constexpr (fn == Fn::gelu) return 0.5 * x * (1 + __builtin_erf(x * 0.70710678118654752));
  else if constexpr (fn == Fn::hard_sigmoid) return most(0, least(1, alpha * x + beta));
  else if constexpr (fn == Fn::leaky_relu) return x < 0 ? alpha * x : x;
  else if constexpr (fn == Fn::log) return __builtin_log(x);
  else if constexpr (fn == Fn::neg) return -x;
  else if constexpr (fn == Fn::reciprocal) return 1 / x;
  else if constexpr (fn == Fn::relu) return x > 0 ? x : 0;
  else if constexpr (fn == Fn::round) return __builtin_nearbyint(x);
  else if constexpr (fn == Fn::sigmoid) return 1 / (1 + __builtin_exp(-x));
  else if constexpr (fn == Fn::sign) return x > 0 ? 1 : x < 0 ? -1 : x;
  else if constexpr (fn == Fn::sin) return __builtin_sin(x);
  else if constexpr (fn == Fn::sinh) return __builtin_sinh(x);
  else if constexpr (fn == Fn::softplus) return most(x, 0) + __builtin_log1p(__builtin_exp(-__builtin_fabs(x)));
  else if constexpr (fn == Fn::softsign) return x / (1 + __builtin_fabs(x));
  else if constexpr (fn == Fn::sqrt) return __builtin_sqrt(x);
  else if constexpr (fn == Fn::square) return x * x;
  else if constexpr (fn == Fn::tan) return __builtin_tan(x);
  else return __builtin_tanh(x);
}

template <Fn fn>
void unary(const void* from, void* to, Index n, float alpha, float beta) {
  const auto* x = static_cast<const double*>(from);
  auto* y = static_cast<double*>(to);
  const double a = static_cast<double>(alpha), b = static_cast<double>(beta);
  for (Index i = 0; i < n; ++i) y[i] = apply<fn>(x[i], a, b);
}

template <Fn fn>
void predicate(const void* from, void* to, Index n, float, float) {
  const auto* x = static_cast<const double*>(from);
  auto* y = static_cast<std::uint8_t*>(to);
  for (Index i = 0; i < n; ++i) {
    if constexpr (fn == Fn::is_nan) y[i] = x[i] != x[i];
    else y[i] = __builtin_fabs(x[i]) == __builtin_inf();
  }
}

template <Fn fn>
inline auto apply(double a, double b) {
  const auto byte = [](bool value) { return static_cast<std::uint8_t>(value); };
  if constexpr (fn == Fn::add) return a + b;
  else if constexpr (fn == Fn::sub) return a - b;
  else if constexpr (fn == Fn::mul) return a * b;
  else if constexpr (fn == Fn::div) return a / b;
  else if constexpr (fn == Fn::max) return a > b ? a : b;
  else if constexpr (fn == Fn::min) return a < b ? a : b;
  else if constexpr (fn == Fn::mod) return a - __builtin_floor(a / b) * b;
  else if constexpr (fn == Fn::fmod) return __builtin_fmod(a, b);
  else if constexpr (fn == Fn::pow) return __builtin_pow(a, b);
  else if constexpr (fn == Fn::prelu) return a < 0 ? a * b : a;
  else if constexpr (fn == Fn::equal) return byte(a == b);
  else if constexpr (fn == Fn::greater) return byte(a > b);
  else if constexpr (fn == Fn::greater_or_equal) return byte(a >= b);
  else if constexpr (fn == Fn::less) return byte(a < b);
  else return byte(a <= b);  // less_or_equal
}

template <Fn fn, Form form>
void binary(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const double*>(left);
  const auto* b = static_cast<const double*>(right);
  auto* y = static_cast<decltype(apply<fn>(0.0, 0.0))*>(to);
  const double a0 = *a, b0 = *b;
  for (Index i = 0; i < n; ++i)
    y[i] = apply<fn>(form == Form::scalar_a ? a0 : a[i], form == Form::scalar_b ? b0 : b[i]);
}

template <Fn... fns>
void add_unary_fns(Kernels& kernels) {
  auto& table = kernels.unary[static_cast<std::size_t>(Arithmetic::f64)];
  ((table[static_cast<std::size_t>(fns)] = unary<fns>), ...);
}

template <Form form, Fn... fns>
void add_form(Kernels& kernels) {
  auto& table = kernels.binary[static_cast<std::size_t>(Arithmetic::f64)][static_cast<std::size_t>(form)];
  ((table[static_cast<std::size_t>(fns)] = binary<fns, form>), ...);
}

template <Fn... fns>
void add_binary_fns(Kernels& kernels) {
  add_form<Form::vectors, fns...>(kernels);
  add_form<Form::scalar_a, fns...>(kernels);
  add_form<Form::scalar_b, fns...>(kernels);
}

}  // namespace

void add_double(Kernels& kernels) {
  add_unary_fns<Fn::abs, Fn::acos, Fn::acosh, Fn::asin, Fn::asinh, Fn::atan, Fn::atanh, Fn::ceil, Fn::clip, Fn::cos,
                Fn::cosh, Fn::elu, Fn::erf, Fn::exp, Fn::floor, Fn::gelu, Fn::hard_sigmoid, Fn::leaky_relu, Fn::log,
                Fn::neg, Fn::reciprocal, Fn::relu, Fn::round, Fn::sigmoid, Fn::sign, Fn::sin, Fn::sinh, Fn::softplus,
                Fn::softsign, Fn::sqrt, Fn::square, Fn::tan, Fn::tanh>(kernels);
  auto& unary = kernels.unary[static_cast<std::size_t>(Arithmetic::f64)];
  unary[static_cast<std::size_t>(Fn::is_nan)] = predicate<Fn::is_nan>;
  unary[static_cast<std::size_t>(Fn::is_inf)] = predicate<Fn::is_inf>;
  add_binary_fns<Fn::add, Fn::sub, Fn::mul, Fn::div, Fn::max, Fn::min, Fn::mod, Fn::fmod, Fn::pow, Fn::prelu, Fn::equal,
                 Fn::greater, Fn::greater_or_equal, Fn::less, Fn::less_or_equal>(kernels);
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
