// SPDX-License-Identifier: Apache-2.0
// Functions of two f32 operands, and the multiply-add of a batch normalisation.
#include "kernels.hpp"
#include "kernels/math.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

using Fn = ElementwiseFn;

/// exp(b * log|a|) with the signs and special cases of C's pow; relative error about |b * log a| * 1e-7.
inline F power(F a, F b) {
  const F magnitude = exp(b * log(abs(a)));
  const F whole = floor(b);
  const F half = floor(b * 0.5F) * 2.0F;
  const F of_negative = select(whole != b, splat(__builtin_nanf("")), select(half != b, -magnitude, magnitude));
  const F y = select(a < 0.0F, of_negative, magnitude);
  return select((b == 0.0F) | (a == 1.0F), splat(1.0F), y);
}

template <Fn fn, bool then_relu = false>
inline F apply(F a, F b) {
  if constexpr (then_relu) return max(apply<fn>(a, b), splat(0.0F));
  else if constexpr (fn == Fn::add) return a + b;
  else if constexpr (fn == Fn::sub) return a - b;
  else if constexpr (fn == Fn::mul) return a * b;
  else if constexpr (fn == Fn::div) return a / b;
  else if constexpr (fn == Fn::max) return max(a, b);
  else if constexpr (fn == Fn::min) return min(a, b);
  else if constexpr (fn == Fn::mod) return a - floor(a / b) * b;
  else if constexpr (fn == Fn::pow) return power(a, b);
  else return select(a < 0.0F, a * b, a);  // prelu
}

template <Fn fn, Form form, bool then_relu = false>
void vectorized(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const float*>(left);
  const auto* b = static_cast<const float*>(right);
  auto* y = static_cast<float*>(to);
  const F a0 = splat(form == Form::scalar_a ? *a : 0.0F), b0 = splat(form == Form::scalar_b ? *b : 0.0F);
  const auto at = [&](Index i) {
    return apply<fn, then_relu>(form == Form::scalar_a ? a0 : load(a + i), form == Form::scalar_b ? b0 : load(b + i));
  };
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const F v[4] = {at(i), at(i + lanes), at(i + 2 * lanes), at(i + 3 * lanes)};
    for (int j = 0; j < 4; ++j) store(y + i + j * lanes, v[j]);
  }
  for (; i + lanes <= n; i += lanes) store(y + i, at(i));
  if (i == n) return;
  const F rest = apply<fn, then_relu>(form == Form::scalar_a ? a0 : load_some(a + i, n - i, 1.0F),
                                      form == Form::scalar_b ? b0 : load_some(b + i, n - i, 1.0F));
  store_some(y + i, rest, n - i);
}

/// Powers in models are usually small whole numbers or one half, which need no logarithm.
void power_of_scalar(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const float*>(left);
  const float b = *static_cast<const float*>(right);
  auto* y = static_cast<float*>(to);
  if (b == 2.0F) {
    for (Index i = 0; i < n; ++i) y[i] = a[i] * a[i];
  } else if (b == 3.0F) {
    for (Index i = 0; i < n; ++i) y[i] = a[i] * a[i] * a[i];
  } else if (b == 0.5F) {
    Index i = 0;
    for (; i + lanes <= n; i += lanes) store(y + i, sqrt(load(a + i)));
    for (; i < n; ++i) y[i] = __builtin_sqrtf(a[i]);
  } else {
    vectorized<Fn::pow, Form::scalar_b>(left, right, to, n);
  }
}

template <Fn fn, Form form>
void comparison(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const float*>(left);
  const auto* b = static_cast<const float*>(right);
  auto* y = static_cast<std::uint8_t*>(to);
  for (Index i = 0; i < n; ++i) {
    const float p = form == Form::scalar_a ? *a : a[i], q = form == Form::scalar_b ? *b : b[i];
    if constexpr (fn == Fn::equal) y[i] = p == q;
    else if constexpr (fn == Fn::greater) y[i] = p > q;
    else if constexpr (fn == Fn::greater_or_equal) y[i] = p >= q;
    else if constexpr (fn == Fn::less) y[i] = p < q;
    else y[i] = p <= q;
  }
}

template <Form form>
void remainder_of(const void* left, const void* right, void* to, Index n) {
  const auto* a = static_cast<const float*>(left);
  const auto* b = static_cast<const float*>(right);
  for (Index i = 0; i < n; ++i)
    static_cast<float*>(to)[i] =
        __builtin_fmodf(form == Form::scalar_a ? *a : a[i], form == Form::scalar_b ? *b : b[i]);
}

template <Form form>
void add_form(BinaryKernel (&table)[elementwise_fns]) {
  const auto set = [&](ElementwiseFn fn, BinaryKernel kernel) { table[static_cast<std::size_t>(fn)] = kernel; };
  set(Fn::add, vectorized<Fn::add, form>);
  set(Fn::sub, vectorized<Fn::sub, form>);
  set(Fn::mul, vectorized<Fn::mul, form>);
  set(Fn::div, vectorized<Fn::div, form>);
  set(Fn::max, vectorized<Fn::max, form>);
  set(Fn::min, vectorized<Fn::min, form>);
  set(Fn::mod, vectorized<Fn::mod, form>);
  set(Fn::pow, form == Form::scalar_b ? power_of_scalar : vectorized<Fn::pow, form>);
  set(Fn::prelu, vectorized<Fn::prelu, form>);
  set(Fn::equal, comparison<Fn::equal, form>);
  set(Fn::greater, comparison<Fn::greater, form>);
  set(Fn::greater_or_equal, comparison<Fn::greater_or_equal, form>);
  set(Fn::less, comparison<Fn::less, form>);
  set(Fn::less_or_equal, comparison<Fn::less_or_equal, form>);
  set(Fn::fmod, remainder_of<form>);
}

/// `which` is as in Kernels::product_sum.
template <int which, bool scalar_b, bool scalar_c>
void product_sum(const float* a, const float* b, const float* c, float* y, Index n) {
  const F b0 = splat(scalar_b ? *b : 0.0F), c0 = splat(scalar_c ? *c : 0.0F);
  const auto with = [](F p, F q, F r) { return which == 0 ? p * q + r : which == 1 ? p * q - r : r - p * q; };
  const auto at = [&](Index i) { return with(load(a + i), scalar_b ? b0 : load(b + i), scalar_c ? c0 : load(c + i)); };
  Index i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const F v[4] = {at(i), at(i + lanes), at(i + 2 * lanes), at(i + 3 * lanes)};
    for (int j = 0; j < 4; ++j) store(y + i + j * lanes, v[j]);
  }
  for (; i + lanes <= n; i += lanes) store(y + i, at(i));
  if (i == n) return;
  const auto some = [&](const float* from) { return load_some(from + i, n - i, 0.0F); };
  store_some(y + i, with(some(a), scalar_b ? b0 : some(b), scalar_c ? c0 : some(c)), n - i);
}

template <int which>
void add_product_sums(Kernels& kernels) {
  kernels.product_sum[which][0][0] = product_sum<which, false, false>;
  kernels.product_sum[which][0][1] = product_sum<which, false, true>;
  kernels.product_sum[which][1][0] = product_sum<which, true, false>;
  kernels.product_sum[which][1][1] = product_sum<which, true, true>;
}

template <bool then_relu>
void affine(const float* x, const float* scale, const float* shift, float* y, Index n) {
  for (Index i = 0; i < n; i += lanes) {
    const Index some = n - i < lanes ? n - i : lanes;
    const auto take = [&](const float* p) { return some == lanes ? load(p + i) : load_some(p + i, some, 0.0F); };
    F v = take(x) * take(scale) + take(shift);
    if constexpr (then_relu) v = max(v, splat(0.0F));
    if (some == lanes) store(y + i, v);
    else store_some(y + i, v, some);
  }
}
template <bool then_relu>
void affine_scalar(const float* x, float scale, float shift, float* y, Index n) {
  const F a = splat(scale), b = splat(shift);
  const auto at = [&](F v) { return then_relu ? max(v * a + b, splat(0.0F)) : v * a + b; };
  Index i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const F first = at(load(x + i)), second = at(load(x + i + lanes));
    store(y + i, first);
    store(y + i + lanes, second);
  }
  for (; i + lanes <= n; i += lanes) store(y + i, at(load(x + i)));
  if (i < n) store_some(y + i, at(load_some(x + i, n - i, 0.0F)), n - i);
}

}  // namespace

void add_binary(Kernels& kernels) {
  auto& table = kernels.binary[static_cast<std::size_t>(Arithmetic::f32)];
  add_form<Form::vectors>(table[static_cast<std::size_t>(Form::vectors)]);
  add_form<Form::scalar_a>(table[static_cast<std::size_t>(Form::scalar_a)]);
  add_form<Form::scalar_b>(table[static_cast<std::size_t>(Form::scalar_b)]);
  kernels.add_relu[static_cast<std::size_t>(Form::vectors)] = vectorized<Fn::add, Form::vectors, true>;
  kernels.add_relu[static_cast<std::size_t>(Form::scalar_a)] = vectorized<Fn::add, Form::scalar_a, true>;
  kernels.add_relu[static_cast<std::size_t>(Form::scalar_b)] = vectorized<Fn::add, Form::scalar_b, true>;
  add_product_sums<0>(kernels);
  add_product_sums<1>(kernels);
  add_product_sums<2>(kernels);
  kernels.affine[0] = affine<false>;
  kernels.affine[1] = affine<true>;
  kernels.affine_scalar[0] = affine_scalar<false>;
  kernels.affine_scalar[1] = affine_scalar<true>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
