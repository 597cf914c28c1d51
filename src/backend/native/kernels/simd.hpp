// SPDX-License-Identifier: Apache-2.0
// A vector of floats as wide as the instruction set that this translation unit is compiled for. Kernel files are
// compiled once for each instruction set, in a namespace with its name. Everything in them has internal linkage, and no
// inline function of the standard library is used, so that the linker can never pick a wide copy of a shared function
// for a narrow machine.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef BENANZA_NATIVE_ISA
#error "the build names the instruction set: baseline, avx2 or avx512"
#endif

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

#if defined(BENANZA_NATIVE_LANES)
constexpr int lanes = BENANZA_NATIVE_LANES;  // for testing a width that this machine lacks
#elif defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

using Index = std::int64_t;
typedef float F __attribute__((vector_size(lanes * 4)));
typedef std::int32_t I __attribute__((vector_size(lanes * 4)));

template <class To, class From>
inline To bits(From from) {
  return __builtin_bit_cast(To, from);
}
inline F load(const float* p) {
  F v;
  __builtin_memcpy(&v, p, sizeof(F));
  return v;
}
inline void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof(F)); }
inline F splat(float v) { return v - F{}; }
inline I splat(std::int32_t v) { return v - I{}; }

inline F to_float(I v) { return __builtin_convertvector(v, F); }
inline I truncate(F v) { return __builtin_convertvector(v, I); }
inline F abs(F v) { return bits<F>(bits<I>(v) & 0x7FFFFFFF); }
inline F copy_sign(F magnitude, F sign) {
  return bits<F>((bits<I>(magnitude) & 0x7FFFFFFF) | (bits<I>(sign) & splat(static_cast<std::int32_t>(0x80000000U))));
}
inline F select(I mask, F yes, F no) { return bits<F>((mask & bits<I>(yes)) | (~mask & bits<I>(no))); }
inline bool any(I mask) {
#if defined(__AVX512F__) && !defined(BENANZA_NATIVE_LANES)
  return _mm512_test_epi32_mask(bits<__m512i>(mask), bits<__m512i>(mask)) != 0;
#elif defined(__AVX2__) && !defined(BENANZA_NATIVE_LANES)
  return _mm256_testz_si256(bits<__m256i>(mask), bits<__m256i>(mask)) == 0;
#elif defined(__SSE2__) && !defined(BENANZA_NATIVE_LANES)
  return _mm_movemask_epi8(bits<__m128i>(mask)) != 0;
#else
  std::int32_t all = 0;
  for (int i = 0; i < lanes; ++i) all |= mask[i];
  return all != 0;
#endif
}

/// The first n < lanes elements; the others are `rest`.
inline F load_some(const float* p, Index n, float rest) {
  I at;
  for (int i = 0; i < lanes; ++i) at[i] = i;
  const I mask = at < static_cast<std::int32_t>(n);
#if defined(__AVX512F__) && !defined(BENANZA_NATIVE_LANES)
  return _mm512_mask_loadu_ps(splat(rest), _mm512_movepi32_mask(bits<__m512i>(mask)), p);
#elif defined(__AVX2__) && !defined(BENANZA_NATIVE_LANES)
  return select(mask, _mm256_maskload_ps(p, bits<__m256i>(mask)), splat(rest));
#else
  F v = splat(rest);
  for (Index i = 0; i < n; ++i) v[i] = p[i];
  return select(mask, v, splat(rest));
#endif
}
/// Unsigned bytes.
inline I load_bytes(const std::uint8_t* p) {
#if defined(__AVX512F__) && !defined(BENANZA_NATIVE_LANES)
  return bits<I>(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__) && !defined(BENANZA_NATIVE_LANES)
  return bits<I>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
  I v;
  for (int i = 0; i < lanes; ++i) v[i] = p[i];
  return v;
#endif
}
inline void store_some(float* p, F v, Index n) {
#if defined(__AVX512F__) && !defined(BENANZA_NATIVE_LANES)
  I at;
  for (int i = 0; i < lanes; ++i) at[i] = i;
  _mm512_mask_storeu_ps(p, _mm512_movepi32_mask(bits<__m512i>(at < static_cast<std::int32_t>(n))), v);
#elif defined(__AVX2__) && !defined(BENANZA_NATIVE_LANES)
  I at;
  for (int i = 0; i < lanes; ++i) at[i] = i;
  _mm256_maskstore_ps(p, bits<__m256i>(at < static_cast<std::int32_t>(n)), v);
#else
  for (Index i = 0; i < n; ++i) p[i] = v[i];
#endif
}

// Operations that vector extensions lack. As in the machine's instructions, min and max return their second operand if
// one is NaN.
#if defined(__AVX512F__) && !defined(BENANZA_NATIVE_LANES)
inline F min(F a, F b) { return _mm512_min_ps(a, b); }
inline F max(F a, F b) { return _mm512_max_ps(a, b); }
inline F sqrt(F v) { return _mm512_sqrt_ps(v); }
inline F round(F v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline F floor(F v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline F ceil(F v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
inline F rough_reciprocal_sqrt(F v) { return _mm512_rsqrt14_ps(v); }
#elif defined(__AVX2__) && !defined(BENANZA_NATIVE_LANES)
inline F min(F a, F b) { return _mm256_min_ps(a, b); }
inline F max(F a, F b) { return _mm256_max_ps(a, b); }
inline F sqrt(F v) { return _mm256_sqrt_ps(v); }
inline F round(F v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline F floor(F v) { return _mm256_round_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline F ceil(F v) { return _mm256_round_ps(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
inline F rough_reciprocal_sqrt(F v) { return _mm256_rsqrt_ps(v); }
#else
inline F min(F a, F b) { return select(a < b, a, b); }
inline F max(F a, F b) { return select(a > b, a, b); }
/// Adding and subtracting 2^23 leaves the nearest integer for magnitudes below 2^23. Above that, there are no
/// fractions.
inline F round(F v) {
  const F magnitude = abs(v), big = splat(8388608.0F);
  const F rounded = (magnitude + big) - big;
  return select(magnitude < big, copy_sign(rounded, v), v);
}
inline F floor(F v) {
  const F r = round(v);
  return select(r > v, r - 1.0F, r);
}
inline F ceil(F v) {
  const F r = round(v);
  return select(r < v, r + 1.0F, r);
}
#if defined(__SSE2__) && !defined(BENANZA_NATIVE_LANES)
inline F sqrt(F v) { return _mm_sqrt_ps(v); }
inline F rough_reciprocal_sqrt(F v) { return _mm_rsqrt_ps(v); }
#else
inline F sqrt(F v) {
  F r;
  for (int i = 0; i < lanes; ++i) r[i] = __builtin_sqrtf(v[i]);
  return r;
}
inline F rough_reciprocal_sqrt(F v) { return 1.0F / sqrt(v); }
#endif
#endif

/// 1 / sqrt(v) for normal v > 0: one Newton step on an estimate with at least 11 bits; relative error below 4e-7.
inline F reciprocal_sqrt(F v) {
  const F r = rough_reciprocal_sqrt(v);
  return r * (1.5F - 0.5F * v * r * r);
}

/// Reduces all lanes to one number by halving.
template <class Combine>
inline float reduce_lanes(F v, Combine combine) {
  typedef float Quarter __attribute__((vector_size(16)));
  Quarter parts[lanes / 4];
  __builtin_memcpy(parts, &v, sizeof(F));
  for (int width = lanes / 8; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) parts[i] = combine(parts[i], parts[i + width]);
  return combine(combine(parts[0][0], parts[0][2]), combine(parts[0][1], parts[0][3]));
}
inline float sum(F v) {
  return reduce_lanes(v, [](auto a, auto b) { return a + b; });
}
inline float max_of(F v) {
  return reduce_lanes(v, [](auto a, auto b) { return a > b ? a : b; });
}
inline float min_of(F v) {
  return reduce_lanes(v, [](auto a, auto b) { return a < b ? a : b; });
}

/// Copies `bytes` without the caches: no line is read before it is written. `to` need not be aligned; the parts before
/// its first and after its last full line are copied normally. The caller ends with `stream_fence()` before another
/// thread reads.
inline void stream_copy(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  auto* d = static_cast<unsigned char*>(to);
  const auto* s = static_cast<const unsigned char*>(from);
  constexpr std::size_t line = 64;
  std::size_t head = (line - reinterpret_cast<std::uintptr_t>(d) % line) % line;
  head = head < bytes ? head : bytes;
  __builtin_memcpy(d, s, head);
  std::size_t i = head;
  for (; i + line <= bytes; i += line) {
    __m128i v[4];
    __builtin_memcpy(v, s + i, line);
    for (int j = 0; j < 4; ++j) _mm_stream_si128(reinterpret_cast<__m128i*>(d + i) + j, v[j]);
  }
  __builtin_memcpy(d + i, s + i, bytes - i);
#else
  __builtin_memcpy(to, from, bytes);
#endif
}
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace benanza::native::BENANZA_NATIVE_ISA
