// SPDX-License-Identifier: Apache-2.0
// Conversion between element types, and linear quantisation.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t value;
};

// IEEE half precision in integer arithmetic, without branches, so that it vectorises on machines without a conversion
// instruction. Denormals go through a float addition that aligns their bits (F. Giesen, "Half to float done quick",
// 2012).
inline float widen(Half h) {
  const std::uint32_t magnitude = (h.bits & 0x7FFFU) << 13;
  const std::uint32_t normal = magnitude + (112U << 23);
  const std::uint32_t special = normal + (112U << 23);
  const float tiny = bits<float>(normal + (1U << 23)) - bits<float>(113U << 23);
  const std::uint32_t y = (magnitude & 0x0F800000U) == 0x0F800000U ? special
                          : (magnitude & 0x0F800000U) == 0         ? bits<std::uint32_t>(tiny)
                                                                   : normal;
  return bits<float>(y | (h.bits & 0x8000U) << 16);
}
inline Half narrow_half(float v) {
  const auto all = bits<std::uint32_t>(v);
  const std::uint32_t magnitude = all & 0x7FFFFFFFU;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  const std::uint32_t tiny = bits<std::uint32_t>(bits<float>(magnitude) + 0.5F) - 0x3F000000U;
  const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
  const std::uint32_t y = magnitude >= 0x47800000U ? special : magnitude < 0x38800000U ? tiny : normal;
  return {static_cast<std::uint16_t>(y | (all >> 16 & 0x8000U))};
}
inline float widen(Brain b) { return bits<float>(static_cast<std::uint32_t>(b.bits) << 16); }
inline Brain narrow_brain(float v) {
  const auto all = bits<std::uint32_t>(v);
  const std::uint32_t rounded = (all + 0x7FFFU + ((all >> 16) & 1U)) >> 16;
  return {static_cast<std::uint16_t>(v != v ? (all >> 16 | 0x40U) : rounded)};
}

template <class T>
inline float as_float(T v) {
  if constexpr (__is_same(T, Half) || __is_same(T, Brain)) return widen(v);
  else if constexpr (__is_same(T, Boolean)) return v.value != 0 ? 1.0F : 0.0F;
  else return static_cast<float>(v);
}
/// Rounds towards zero. Small types wrap around, through i32.
template <class T>
inline T from_float(float v) {
  if constexpr (__is_same(T, Half)) return narrow_half(v);
  else if constexpr (__is_same(T, Brain)) return narrow_brain(v);
  else if constexpr (__is_same(T, Boolean)) return {static_cast<std::uint8_t>(v != 0.0F)};
  else if constexpr (sizeof(T) < 4) return static_cast<T>(static_cast<std::int32_t>(v));
  else if constexpr (__is_same(T, std::uint32_t)) return static_cast<T>(static_cast<std::int64_t>(v));
  else return static_cast<T>(v);
}

template <class T>
void to_f32(const void* from, void* to, Index n) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<float*>(to);
  Index i = 0;
  if constexpr (__is_same(T, Half)) {
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
      _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i))));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
  }
  for (; i < n; ++i) y[i] = as_float<T>(x[i]);
}
template <class T>
void from_f32(const void* from, void* to, Index n) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<T*>(to);
  Index i = 0;
  if constexpr (__is_same(T, Half)) {
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i),
                          _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  }
  for (; i < n; ++i) y[i] = from_float<T>(x[i]);
}
template <class T>
void to_i64(const void* from, void* to, Index n) {
  const auto* x = static_cast<const T*>(from);
  auto* y = static_cast<std::int64_t*>(to);
  for (Index i = 0; i < n; ++i) {
    if constexpr (__is_same(T, Boolean)) y[i] = x[i].value != 0;
    else y[i] = static_cast<std::int64_t>(x[i]);
  }
}
template <class T>
void from_i64(const void* from, void* to, Index n) {
  const auto* x = static_cast<const std::int64_t*>(from);
  auto* y = static_cast<T*>(to);
  for (Index i = 0; i < n; ++i) {
    if constexpr (__is_same(T, Boolean)) y[i] = {static_cast<std::uint8_t>(x[i] != 0)};
    else y[i] = static_cast<T>(x[i]);
  }
}

template <class T, bool each>
void quantize(const float* x, T* y, Index n, const float* scale, const T* zero_point) {
  constexpr float least = static_cast<T>(-1) < T{0} ? -128.0F : 0.0F,
                  largest = static_cast<T>(-1) < T{0} ? 127.0F : 255.0F;
  const F one_scale = splat(*scale), one_zero = splat(static_cast<float>(*zero_point));
  constexpr int block = 4 * lanes;
  for (Index i = 0; i < n; i += block) {
    std::int32_t wide[block];
    const Index count = i + block <= n ? block : n - i;
    for (int j = 0; j < block; j += lanes) {
      if (j >= count) break;
      const Index some = count - j;
      const auto take = [&](const float* p, float rest) {
        return some >= lanes ? load(p + i + j) : load_some(p + i + j, some, rest);
      };
      F zero = one_zero;
      if constexpr (each)
        for (Index l = 0; l < lanes && l < some; ++l) zero[l] = static_cast<float>(zero_point[i + j + l]);
      const F rounded = round(take(x, 0.0F) / (each ? take(scale, 1.0F) : one_scale)) + zero;
      const I whole = truncate(min(splat(largest), max(splat(least), rounded)));
      __builtin_memcpy(wide + j, &whole, sizeof(I));
    }
    if (count == block) {
      for (int j = 0; j < block; ++j) y[i + j] = static_cast<T>(wide[j]);
    } else {
      for (Index j = 0; j < count; ++j) y[i + j] = static_cast<T>(wide[j]);
    }
  }
}
template <class T>
void quantize_one(const float* x, void* y, Index n, float scale, std::int32_t zero_point) {
  const T zero = static_cast<T>(zero_point);
  quantize<T, false>(x, static_cast<T*>(y), n, &scale, &zero);
}
template <class T>
void quantize_each(const float* x, void* y, Index n, const float* scale, const void* zero_point) {
  quantize<T, true>(x, static_cast<T*>(y), n, scale, static_cast<const T*>(zero_point));
}
template <class T>
void dequantize_one(const void* from, float* y, Index n, float scale, std::int32_t zero_point) {
  const auto* x = static_cast<const T*>(from);
  for (Index i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - zero_point) * scale;
}
template <class T>
void dequantize_each(const void* from, float* y, Index n, const float* scale, const void* zero_points) {
  const auto* x = static_cast<const T*>(from);
  const auto* zero_point = static_cast<const T*>(zero_points);
  for (Index i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - zero_point[i]) * scale[i];
}

template <int width>
void expand(const std::uint8_t* x, float* y, Index n) {
  constexpr int parts = 8 / width;
  for (Index i = 0; i < n; i += parts * lanes, x += lanes) {
    const I all = load_bytes(x);
#pragma GCC unroll 4
    for (int part = 0; part < parts; ++part)
      store(y + i + part * lanes, to_float(all >> (part * width) & ((1 << width) - 1)));
  }
}

template <class T, bool through_i64>
void add_type(Kernels& kernels, Stored type) {
  const auto at = static_cast<std::size_t>(type);
  kernels.to_f32[at] = to_f32<T>;
  kernels.from_f32[at] = from_f32<T>;
  if constexpr (through_i64) {
    kernels.to_i64[at] = to_i64<T>;
    kernels.from_i64[at] = from_i64<T>;
  }
}

}  // namespace

void add_convert(Kernels& kernels) {
  add_type<Half, false>(kernels, Stored::f16);
  add_type<Brain, false>(kernels, Stored::bf16);
  add_type<double, true>(kernels, Stored::f64);
  add_type<std::int8_t, true>(kernels, Stored::i8);
  add_type<std::uint8_t, true>(kernels, Stored::u8);
  add_type<std::int16_t, true>(kernels, Stored::i16);
  add_type<std::uint16_t, true>(kernels, Stored::u16);
  add_type<std::int32_t, true>(kernels, Stored::i32);
  add_type<std::uint32_t, true>(kernels, Stored::u32);
  add_type<std::int64_t, true>(kernels, Stored::i64);
  add_type<std::uint64_t, true>(kernels, Stored::u64);
  add_type<Boolean, true>(kernels, Stored::boolean);
  kernels.expand[0] = expand<2>;
  kernels.expand[1] = expand<4>;
  kernels.expand[2] = expand<8>;
  kernels.quantize[0] = quantize_one<std::uint8_t>;
  kernels.quantize[1] = quantize_one<std::int8_t>;
  kernels.quantize_each[0] = quantize_each<std::uint8_t>;
  kernels.quantize_each[1] = quantize_each<std::int8_t>;
  kernels.dequantize[0] = dequantize_one<std::uint8_t>;
  kernels.dequantize[1] = dequantize_one<std::int8_t>;
  kernels.dequantize_each[0] = dequantize_each<std::uint8_t>;
  kernels.dequantize_each[1] = dequantize_each<std::int8_t>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
