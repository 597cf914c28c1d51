// SPDX-License-Identifier: Apache-2.0
// Elementary functions of a vector of floats. Approach and coefficients:
//   exp, log, sin, cos   argument reduction and minimax polynomials of the Cephes library (S. Moshier,
//                        netlib.org/cephes/single)
//   erf, tanh            x * P(x^2) / Q(x^2), fitted for Benanza: least squares of the relative error, reweighted by
//                        Lawson's method until it levels out, in double precision; all coefficients are positive, so
//                        nothing cancels
//   exp_bounded          1 + x + x^2 * P(x), fitted the same way
// The largest relative errors against double precision are stated with each function and tested in
// tests/backend/native_math_test.cpp.
#pragma once

#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// 2^n for integers -126 <= n <= 127 stored as floats.
inline F power_of_two(F n) { return bits<F>((truncate(n) + 127) << 23); }

/// exp(r) for |r| <= ln(2) / 2.
inline F exp_reduced(F r) {
  F p = splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  return p * (r * r) + r + 1.0F;
}

/// Relative error below 2e-7 for all normal results; infinite and zero wherever exp is; NaN stays NaN.
inline F exp(F x) {
  const F bounded = max(splat(-104.0F), min(splat(89.0F), x));
  const F n = round(bounded * 1.44269504F);
  const F r = (bounded - n * 0.693359375F) - n * -2.12194440e-4F;
  const F half = round(n * 0.5F);  // two factors: 2^128 and 2^-149 are not normal numbers
  return exp_reduced(r) * power_of_two(half) * power_of_two(n - half);
}

/// The same for x <= 89, infinite from 88.4 on, with fewer operations: adding 1.5 * 2^23 + 127 rounds and leaves the
/// biased exponent in the low bits of the sum. The polynomial has an error of 2e-9. Results do not go below exp(-87.3),
/// the smallest normal number.
inline F exp_bounded(F x) {
  constexpr float magic = 12582912.0F + 127.0F;
  const F bounded = max(splat(-87.33654F), x);
  const F shifted = bounded * 1.44269504F + magic;
  const F n = shifted - magic;
  const F r = (bounded - n * 0.693359375F) - n * -2.12194440e-4F;
  F p = splat(1.38436060e-3F);
  p = p * r + 8.37419555e-3F;
  p = p * r + 4.16680053e-2F;
  p = p * r + 1.66664302e-1F;
  p = p * r + 4.99999940e-1F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  return p * bits<F>(bits<I>(shifted) << 23);
}

/// Relative error below 2e-7; -inf at 0, NaN below 0.
inline F log(F x) {
  const I tiny = x < 1.17549435e-38F;
  const I raw = bits<I>(select(tiny, x * 33554432.0F, x));
  // Mantissa in [sqrt(1/2), sqrt(2)): exponent and mantissa are split after an offset of 1 - sqrt(1/2) in the bit
  // pattern.
  const I shifted = raw - 0x3F3504F3;
  F e = to_float(shifted >> 23) - select(tiny, splat(25.0F), splat(0.0F));
  const F m = bits<F>((shifted & 0x7FFFFF) + 0x3F3504F3);
  const F z = m - 1.0F, square = z * z;
  F p = splat(7.0376836292e-2F);
  p = p * z - 1.1514610310e-1F;
  p = p * z + 1.1676998740e-1F;
  p = p * z - 1.2420140846e-1F;
  p = p * z + 1.4249322787e-1F;
  p = p * z - 1.6668057665e-1F;
  p = p * z + 2.0000714765e-1F;
  p = p * z - 2.4999993993e-1F;
  p = p * z + 3.3333331174e-1F;
  const F tail = p * z * square + e * -2.12194440e-4F - 0.5F * square;
  const F y = (z + tail) + e * 0.693359375F;
  const F infinity = splat(__builtin_inff());
  F result = select(x == infinity, infinity, y);
  result = select(x == 0.0F, -infinity, result);
  return select((x < 0.0F) | (x != x), splat(__builtin_nanf("")), result);
}

/// log(1 + t) for t >= 0 without loss of precision for small t (W. Kahan): log(u) * t / (u - 1) with u = 1 + t.
/// Relative error below 4e-7.
inline F log_1p(F t) {
  const F u = t + 1.0F;
  return select(u == 1.0F, t, log(u) * (t / select(u == 1.0F, splat(1.0F), u - 1.0F)));
}

/// Relative error below 5e-7.
inline F tanh(F x) {
  const F v = max(splat(-9.02F), min(splat(9.02F), x)), z = v * v;
  F p = z * 1.33186386e-8F + 2.0583162e-5F;
  p = p * z + 3.49401496e-3F;
  p = p * z + 1.3379702e-1F;
  p = p * z + 1.0F;
  F q = z * 7.76183981e-7F + 3.2830608e-4F;
  q = q * z + 2.58709993e-2F;
  q = q * z + 4.67130154e-1F;
  q = q * z + 1.0F;
  return v * p / q;
}

/// Relative error below 5e-7.
inline F erf(F x) {
  const F v = max(splat(-3.92F), min(splat(3.92F), x)), z = v * v;
  F p = z * 2.05009292e-6F + 2.84879497e-4F;
  p = p * z + 3.76551202e-3F;
  p = p * z + 5.27483895e-2F;
  p = p * z + 1.90404147e-1F;
  p = p * z + 1.12837911F;
  F q = z * 3.80916063e-5F + 1.1625085e-3F;
  q = q * z + 1.49690052e-2F;
  q = q * z + 1.1410813e-1F;
  q = q * z + 5.02074003e-1F;
  q = q * z + 1.0F;
  return v * p / q;
}

/// 1 + exp(-x), the denominator of the logistic function; infinite below -88.4. Relative error below 2e-7.
inline F logistic_denominator(F x) { return 1.0F + exp_bounded(min(splat(89.0F), -x)); }

/// Relative error below 5e-7 above -88.3, 0 below -88.4.
inline F sigmoid(F x) { return 1.0F / logistic_denominator(x); }

/// log(1 + exp(x)); relative error below 5e-7.
inline F softplus(F x) { return max(splat(0.0F), x) + log_1p(exp_bounded(-abs(x))); }

/// sin(x + quarter_turns * pi / 2); absolute error below 2e-7 for |x| <= 8192, where the reduction by pi / 2 in three
/// parts is accurate enough.
inline F sin_shifted(F x, std::int32_t quarter_turns) {
  const F n = round(x * 0.636619772F);
  const F r = ((x - n * 1.5703125F) - n * 4.837512969970703125e-4F) - n * 7.54978995489188216e-8F;
  const F z = r * r;
  const F sine = ((z * -1.9515295891e-4F + 8.3321608736e-3F) * z - 1.6666654611e-1F) * z * r + r;
  const F cosine =
      ((z * 2.443315711809948e-5F - 1.388731625493765e-3F) * z + 4.166664568298827e-2F) * z * z - 0.5F * z + 1.0F;
  const I quadrant = truncate(n) + quarter_turns;
  const F y = select((quadrant & 1) != 0, cosine, sine);
  return bits<F>(bits<I>(y) ^ ((quadrant & 2) << 30));
}

}  // namespace
}  // namespace benanza::native::BENANZA_NATIVE_ISA
