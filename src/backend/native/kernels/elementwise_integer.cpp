// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of i32, i64 and bool, and Where for elements of any type.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

using Fn = ElementwiseFn;

/// Arithmetic wraps around like two's complement; a division by zero yields zero, since a kernel cannot report it.
template <Fn fn, class T, class U>
inline auto apply(T a, T b) {
  const auto wrap = [](U value) { return static_cast<T>(value); };
  const U p = static_cast<U>(a), q = static_cast<U>(b);
  if constexpr (fn == Fn::add) return wrap(static_cast<U>(p + q));
  else if constexpr (fn == Fn::sub) return wrap(static_cast<U>(p - q));
  else if constexpr (fn == Fn::mul) return wrap(static_cast<U>(p * q));
  else if constexpr (fn == Fn::div)
    return b == 0 ? T{0} : b == static_cast<T>(-1) ? wrap(static_cast<U>(U{0} - p)) : static_cast<T>(a / b);
  else if constexpr (fn == Fn::mod || fn == Fn::fmod) {
    if (b == 0 || b == static_cast<T>(-1)) return T{0};
    const T rest = static_cast<T>(a % b);  // fmod takes the sign of the dividend, mod that of the divisor
    return fn == Fn::mod && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else if constexpr (fn == Fn::max) return a > b ? a : b;
  else if constexpr (fn == Fn::min) return a < b ? a : b;
  else if constexpr (fn == Fn::bitwise_and) return static_cast<T>(a & b);
  else if constexpr (fn == Fn::bitwise_or) return static_cast<T>(a | b);
  else if constexpr (fn == Fn::bitwise_xor) return static_cast<T>(a ^ b);
  else if constexpr (fn == Fn::equal) return static_cast<std::uint8_t>(a == b);
  else if constexpr (fn == Fn::greater) return static_cast<std::uint8_t>(a > b);
  else if constexpr (fn == Fn::greater_or_equal) return static_cast<std::uint8_t>(a >= b);
  else if constexpr (fn == Fn::less) return static_cast<std::uint8_t>(a < b);
  else if constexpr (fn == Fn::less_or_equal) return static_cast<std::uint8_t>(a <= b);
  else if constexpr (fn == Fn::logical_and) return static_cast<std::uint8_t>((a != 0) & (b != 0));
  else if constexpr (fn == Fn::logical_or) return static_cast<std::uint8_t>((a != 0) | (b != 0));
  else return static_cast<std::uint8_t>((a != 0) ^ (b != 0));  // logical_xor
}

template <Fn fn, Form form, class T, class U>
void binary(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  auto* y = static_cast<decltype(apply<fn, T, U>(T{}, T{}))*>(to);
  const T a0 = *a, b0 = *b;
  for (Index i = 0; i < n; ++i)
    y[i] = apply<fn, T, U>(form == Form::scalar_a ? a0 : a[i], form == Form::scalar_b ? b0 : b[i]);
}

template <Fn fn, class T, class U>
void unary(const void* from, void* to, Index n, float, float) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<T*>(to);
  for (Index i = 0; i < n; ++i) {
    if constexpr (fn == Fn::abs) y[i] = x[i] < 0 ? static_cast<T>(U{0} - static_cast<U>(x[i])) : x[i];
    else if constexpr (fn == Fn::neg) y[i] = static_cast<T>(U{0} - static_cast<U>(x[i]));
    else if constexpr (fn == Fn::sign) y[i] = static_cast<T>((x[i] > 0) - (x[i] < 0));
    else if constexpr (fn == Fn::relu) y[i] = x[i] > 0 ? x[i] : T{0};
    else if constexpr (fn == Fn::square) y[i] = static_cast<T>(static_cast<U>(x[i]) * static_cast<U>(x[i]));
    else if constexpr (fn == Fn::bitwise_not) y[i] = static_cast<T>(~x[i]);
    else y[i] = x[i] == 0;  // logical_not
  }
}

template <class T, class U, Fn... fns>
void add_fns(Kernels& kernels, Arithmetic type) {
  auto& table = kernels.binary[static_cast<std::size_t>(type)];
  ((table[static_cast<std::size_t>(Form::vectors)][static_cast<std::size_t>(fns)] = binary<fns, Form::vectors, T, U>),
   ...);
  ((table[static_cast<std::size_t>(Form::scalar_a)][static_cast<std::size_t>(fns)] = binary<fns, Form::scalar_a, T, U>),
   ...);
  ((table[static_cast<std::size_t>(Form::scalar_b)][static_cast<std::size_t>(fns)] = binary<fns, Form::scalar_b, T, U>),
   ...);
}
template <class T, class U, Fn... fns>
void add_unary_fns(Kernels& kernels, Arithmetic type) {
  ((kernels.unary[static_cast<std::size_t>(type)][static_cast<std::size_t>(fns)] = unary<fns, T, U>), ...);
}

template <class T>
void where(const std::uint8_t* condition, const void* yes, Index a_stride, const void* no, Index b_stride, void* to,
           Index n) {
  const auto* a = static_cast<const T*>(yes);
  const auto* b = static_cast<const T*>(no);
  auto* y = static_cast<T*>(to);
  const T a0 = *a, b0 = *b;
  if (a_stride != 0 && b_stride != 0) {
    for (Index i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
  } else if (a_stride != 0) {
    for (Index i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a[i] : b0;
  } else if (b_stride != 0) {
    for (Index i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a0 : b[i];
  } else {
    for (Index i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a0 : b0;
  }
}

}  // namespace

void add_integer(Kernels& kernels) {
  add_fns<std::int32_t, std::uint32_t, Fn::add, Fn::sub, Fn::mul, Fn::div, Fn::mod, Fn::fmod, Fn::max, Fn::min,
          Fn::bitwise_and, Fn::bitwise_or, Fn::bitwise_xor, Fn::equal, Fn::greater, Fn::greater_or_equal, Fn::less,
          Fn::less_or_equal>(kernels, Arithmetic::i32);
  add_fns<std::int64_t, std::uint64_t, Fn::add, Fn::sub, Fn::mul, Fn::div, Fn::mod, Fn::fmod, Fn::max, Fn::min,
          Fn::bitwise_and, Fn::bitwise_or, Fn::bitwise_xor, Fn::equal, Fn::greater, Fn::greater_or_equal, Fn::less,
          Fn::less_or_equal>(kernels, Arithmetic::i64);
  add_fns<std::uint8_t, std::uint8_t, Fn::logical_and, Fn::logical_or, Fn::logical_xor, Fn::equal>(kernels,
                                                                                                   Arithmetic::boolean);
  add_unary_fns<std::int32_t, std::uint32_t, Fn::abs, Fn::neg, Fn::sign, Fn::relu, Fn::square, Fn::bitwise_not>(
      kernels, Arithmetic::i32);
  add_unary_fns<std::int64_t, std::uint64_t, Fn::abs, Fn::neg, Fn::sign, Fn::relu, Fn::square, Fn::bitwise_not>(
      kernels, Arithmetic::i64);
  add_unary_fns<std::uint8_t, std::uint8_t, Fn::logical_not>(kernels, Arithmetic::boolean);
  kernels.where[0] = where<std::uint8_t>;
  kernels.where[1] = where<std::uint16_t>;
  kernels.where[2] = where<std::uint32_t>;
  kernels.where[3] = where<std::uint64_t>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
