// SPDX-License-Identifier: Apache-2.0
// What the kernels share: grids, elements as f32, offsets of strided tensors.
#pragma once

#include "kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <type_traits>

namespace benanza::cuda {

inline constexpr int threads_per_block = 256;

/// Blocks for this many items, one per thread; if the grid is too small, kernels continue with further items.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block = threads_per_block) {
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t blocks = (items + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

__device__ inline std::int64_t first_item() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t item_step() { return std::int64_t{gridDim.x} * blockDim.x; }

__device__ inline float to_f32(float x) { return x; }
__device__ inline float to_f32(__half x) { return __half2float(x); }
__device__ inline float to_f32(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float to_f32(std::int8_t x) { return x; }
__device__ inline float to_f32(std::uint8_t x) { return x; }
__device__ inline float to_f32(__nv_fp8_e4m3 x) { return static_cast<float>(x); }
__device__ inline float to_f32(__nv_fp8_e5m2 x) { return static_cast<float>(x); }
template <class T>
__device__ inline T from_f32(float x);
template <>
__device__ inline float from_f32<float>(float x) {
  return x;
}
template <>
__device__ inline __half from_f32<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 from_f32<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
// To nearest even, saturating, as ONNX casts to 8 bits by default.
template <>
__device__ inline __nv_fp8_e4m3 from_f32<__nv_fp8_e4m3>(float x) {
  return __nv_fp8_e4m3(x);
}
template <>
__device__ inline __nv_fp8_e5m2 from_f32<__nv_fp8_e5m2>(float x) {
  return __nv_fp8_e5m2(x);
}
template <>
__device__ inline std::int8_t from_f32<std::int8_t>(float x) {
  return static_cast<std::int8_t>(fminf(fmaxf(rintf(x), -128.0F), 127.0F));
}
template <>
__device__ inline std::uint8_t from_f32<std::uint8_t>(float x) {
  return static_cast<std::uint8_t>(fminf(fmaxf(rintf(x), 0.0F), 255.0F));
}

/// This many elements as one access.
template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T value[n];
};

template <class T, int n>
__device__ void load(const T* from, float (&value)[n]) {
  const auto pack = *reinterpret_cast<const Pack<T, n>*>(from);
  for (int j = 0; j < n; ++j) value[j] = to_f32(pack.value[j]);
}
template <class T, int n>
__device__ void store(T* to, const float (&value)[n]) {
  Pack<T, n> pack;
  for (int j = 0; j < n; ++j) pack.value[j] = from_f32<T>(value[j]);
  *reinterpret_cast<Pack<T, n>*>(to) = pack;
}

/// Calls `launch` with the number of adjacent elements per thread, as many of the widest type as 16 bytes hold, or 1 if
/// that does not divide `inner`; and with the number of blocks for it.
template <class... Types, class Launch>
void with_pack(std::int64_t elements, std::int64_t inner, const Launch& launch) {
  constexpr int wide = 16 / std::max({sizeof(Types)...});
  if (inner % wide == 0) launch(std::integral_constant<int, wide>{}, blocks_for(elements / wide));
  else launch(std::integral_constant<int, 1>{}, blocks_for(elements));
}

/// How many of `neighbours` adjacent columns one thread may take: enough threads must remain to fill a device.
inline std::int64_t columns_together(std::int64_t columns, std::int64_t neighbors) {
  constexpr std::int64_t enough = 1 << 19;
  return columns >= enough ? neighbors : 1;
}

/// An element that is only moved.
template <std::size_t bytes>
struct Cell;
template <>
struct Cell<1> {
  using Type = std::uint8_t;
};
template <>
struct Cell<2> {
  using Type = std::uint16_t;
};
template <>
struct Cell<4> {
  using Type = std::uint32_t;
};
template <>
struct Cell<8> {
  using Type = std::uint64_t;
};
template <>
struct Cell<16> {
  using Type = uint4;
};

/// Calls `body` with a value of the type that has this many bytes.
template <class Body>
void with_cell(std::size_t bytes, const Body& body) {
  switch (bytes) {
    case 1: return body(Cell<1>::Type{});
    case 2: return body(Cell<2>::Type{});
    case 4: return body(Cell<4>::Type{});
    case 8: return body(Cell<8>::Type{});
    default: return body(Cell<16>::Type{});
  }
}

/// Calls `body` with a value of the element's type, a float of 16 bits or more.
template <class Body>
void with_wide(Element element, const Body& body) {
  switch (element) {
    case Element::f32: return body(float{});
    case Element::f16: return body(__half{});
    case Element::bf16: return body(__nv_bfloat16{});
    default: return;
  }
}
/// The same for any float.
template <class Body>
void with_float(Element element, const Body& body) {
  switch (element) {
    case Element::f8e4m3: return body(__nv_fp8_e4m3{});
    case Element::f8e5m2: return body(__nv_fp8_e5m2{});
    default: return with_wide(element, body);
  }
}
/// The same for any element.
template <class Body>
void with_element(Element element, const Body& body) {
  switch (element) {
    case Element::i8: return body(std::int8_t{});
    case Element::u8: return body(std::uint8_t{});
    default: return with_float(element, body);
  }
}
/// The same for elements of 8 bits.
template <class Body>
void with_8_bits(Element element, const Body& body) {
  switch (element) {
    case Element::i8: return body(std::int8_t{});
    case Element::u8: return body(std::uint8_t{});
    case Element::f8e4m3: return body(__nv_fp8_e4m3{});
    case Element::f8e5m2: return body(__nv_fp8_e5m2{});
    default: return;
  }
}

/// Removes the last coordinate from a flat index; uses 32 bits if the index fits, which divides several times faster.
__device__ inline std::int64_t take(std::int64_t& rest, std::int64_t size) {
  if (rest <= 0xFFFFFFFFLL) {
    const auto r = static_cast<std::uint32_t>(rest), s = static_cast<std::uint32_t>(size);
    const std::uint32_t q = r / s;
    rest = q;
    return r - q * s;
  }
  const std::int64_t q = rest / size, i = rest - q * size;
  rest = q;
  return i;
}

__device__ inline std::int64_t index_at(const void* indices, bool wide, std::int64_t i, std::int64_t limit) {
  const std::int64_t at =
      wide ? static_cast<const std::int64_t*>(indices)[i] : static_cast<const std::int32_t*>(indices)[i];
  return at < 0 ? at + limit : at;
}

}  // namespace benanza::cuda
