// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit integers, exact in 32 bits. Units of two words, whose pairs are multiplied and added (pmaddwd); and
// if the processor supports it (AVX-512 VNNI, vpdpbusd), units of four bytes, unsigned columns times signed rows.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {

namespace {

constexpr int width = 2;  // vectors of a panel
#if defined(__AVX512F__)
constexpr int rows_at_once = 12;  // 24 sums, two columns and a row fit 32 registers
#elif defined(__AVX2__)
constexpr int rows_at_once = 6;
#else
constexpr int rows_at_once = 4;
#endif

typedef std::uint32_t U __attribute__((vector_size(lanes * 4)));
typedef std::uint8_t Bytes __attribute__((vector_size(lanes)));
typedef std::int8_t SignedBytes __attribute__((vector_size(lanes)));

inline U load_units(const std::int32_t* p) {
  U v;
  __builtin_memcpy(&v, p, sizeof(U));
  return v;
}
inline void store_units(std::int32_t* p, U v) { __builtin_memcpy(p, &v, sizeof(U)); }
inline U splat_unit(std::uint32_t v) { return v - U{}; }

template <int n>
struct Count {
  static constexpr int count = n;
};

/// Pairs of words.
struct Words {
  static constexpr int elements = 2;
  typedef std::int16_t Stored __attribute__((may_alias));
  static U multiply_add(U sum, U columns, U row) {
#if defined(__AVX512BW__)
    return sum + bits<U>(_mm512_madd_epi16(bits<__m512i>(columns), bits<__m512i>(row)));
#elif defined(__AVX2__)
    return sum + bits<U>(_mm256_madd_epi16(bits<__m256i>(columns), bits<__m256i>(row)));
#elif defined(__SSE2__)
    return sum + bits<U>(_mm_madd_epi16(bits<__m128i>(columns), bits<__m128i>(row)));
#else
    const auto low = [](U v) { return bits<I>(v << 16) >> 16; };
    const auto high = [](U v) { return bits<I>(v) >> 16; };
    return sum + bits<U>(low(columns) * low(row)) + bits<U>(high(columns) * high(row));
#endif
  }
};

#if defined(__AVX512F__)
/// Four bytes. The instruction is written by name, since this file is also compiled for processors without it.
struct FourBytes {
  static constexpr int elements = 4;
  typedef std::int8_t Stored __attribute__((may_alias));
  static U multiply_add(U sum, U columns, U row) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(columns), "v"(row));
    return sum;
  }
};
#endif

template <class Unit>
constexpr std::uint32_t mask = Unit::elements == 4 ? 0xFFU : 0xFFFFU;
template <class Unit>
constexpr int element_bits = 32 / Unit::elements;

/// Stores the elements of one row and returns their sum.
template <class Unit, class Value>
inline std::int32_t pack_row(const Value* x, Index stride, Index depth, std::int32_t subtract, std::int32_t* packed) {
  auto* const to = reinterpret_cast<typename Unit::Stored*>(packed);
  std::int32_t sum = 0;
  const auto store_one = [&](Index i, Value value) {
    const auto stored = static_cast<typename Unit::Stored>(value - subtract);
    to[i] = stored;
    sum += stored;
  };
  if (stride == 1)
    for (Index i = 0; i < depth; ++i) store_one(i, x[i]);
  else
    for (Index i = 0; i < depth; ++i) store_one(i, x[i * stride]);
  for (Index i = depth; i % Unit::elements != 0; ++i) to[i] = 0;
  return sum;
}

template <class Unit>
void pack_rows(const IntegerRows& a) {
  const Index units = (a.depth + Unit::elements - 1) / Unit::elements;
  for (Index r = 0; r < a.rows; ++r) {
    const std::uint8_t* const x = a.x + r * a.row_stride;
    std::int32_t* const to = a.packed + r * (units + 1);
    const std::int32_t sum =
        a.has_sign ? pack_row<Unit>(reinterpret_cast<const std::int8_t*>(x), a.stride, a.depth, a.subtract, to)
                   : pack_row<Unit>(x, a.stride, a.depth, a.subtract, to);
    const auto depth = static_cast<std::uint32_t>(a.depth), zero = static_cast<std::uint32_t>(a.zero),
               other = static_cast<std::uint32_t>(a.other_zero);
    to[units] = static_cast<std::int32_t>(other * (depth * zero - static_cast<std::uint32_t>(sum)));
  }
}

template <class Unit>
void pack_columns(const IntegerColumns& a) {
  const Index units = (a.depth + Unit::elements - 1) / Unit::elements;
  U sums[width]{};
  for (Index u = 0; u < units; ++u) {
    for (int j = 0; j < width; ++j) {
      U unit{};
      for (int e = 0; e < Unit::elements; ++e) {
        const Index i = u * Unit::elements + e;
        if (i >= a.depth) break;
        Bytes bytes;
        __builtin_memcpy(&bytes, a.x + i * a.stride + j * lanes, sizeof bytes);
        const I wide =
            a.has_sign ? __builtin_convertvector(bits<SignedBytes>(bytes), I) : __builtin_convertvector(bytes, I);
        const U element = bits<U>(wide - splat(a.subtract));
        sums[j] += element;
        unit |= (element & splat_unit(mask<Unit>)) << (e * element_bits<Unit>);
      }
      store_units(a.packed + (u * width + j) * lanes, unit);
    }
  }
  const U other = splat_unit(static_cast<std::uint32_t>(a.other_zero));
  for (int j = 0; j < width; ++j) store_units(a.packed + (units * width + j) * lanes, U{} - other * sums[j]);
}

template <class Unit, int rows>
inline void multiply(const std::int32_t* row, Index row_stride, const std::int32_t* columns, Index units,
                     std::int32_t* y, Index y_stride) {
  U sums[rows][width];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < width; ++j)
      sums[r][j] = splat_unit(static_cast<std::uint32_t>(row[r * row_stride + units])) +
                   load_units(columns + (units * width + j) * lanes);
  for (Index u = 0; u < units; ++u) {
    U column[width];
#pragma GCC unroll 2
    for (int j = 0; j < width; ++j) column[j] = load_units(columns + (u * width + j) * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const U broadcast = splat_unit(static_cast<std::uint32_t>(row[r * row_stride + u]));
#pragma GCC unroll 2
      for (int j = 0; j < width; ++j) sums[r][j] = Unit::multiply_add(sums[r][j], column[j], broadcast);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < width; ++j) store_units(y + r * y_stride + j * lanes, sums[r][j]);
}

template <class Unit>
void multiply_tile(const IntegerTile& a) {
  const Index stride = a.units + 1;
  Index r = 0;
  const auto step = [&](auto rows) {
    for (; r + rows.count <= a.row_count; r += rows.count)
      multiply<Unit, rows.count>(a.rows + r * stride, stride, a.columns, a.units, a.y + r * a.y_stride, a.y_stride);
  };
  step(Count<rows_at_once>{});
  step(Count<4>{});
  step(Count<1>{});
}

template <class Unit>
IntegerProduct product() {
  return {.elements = Unit::elements,
          .columns = width * lanes,
          .pack_rows = pack_rows<Unit>,
          .pack_columns = pack_columns<Unit>,
          .multiply = multiply_tile<Unit>};
}

}  // namespace

void add_integer_product(Kernels& kernels) {
  kernels.integer_words = product<Words>();
#if defined(__AVX512F__)
  kernels.integer_bytes = product<FourBytes>();
#endif
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
