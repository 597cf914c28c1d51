// SPDX-License-Identifier: Apache-2.0
// Multiply-adds in types other than f32 and f64, one function per instruction. In assembly, since a compiler would
// compute the same product only once.
#include "peak_kernels.hpp"

#include <algorithm>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace benanza::ceilings {

#if defined(__x86_64__)
namespace {

// Chains of sums: latency x units of the multiply-add, within the registers of AVX2. They are operands of a single
// assembly statement, so that no compiler puts them in memory; otherwise the stores would be the peak.
constexpr int chains = 12;
#define BENANZA_EACH_CHAIN(what) \
  what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11)

// `instructions(c)` add the products of %13 and %14 to the chain %c; %12 is scratch. One function each, since an
// assembly string cannot be a template argument.
#define BENANZA_MULTIPLY_ADD(function, features, Vector, registers, set, lanes, instructions)                       \
  __attribute__((target(features))) double function(std::int64_t repeats) {                                         \
    const Vector a = set(1), b = set(1);                                                                            \
    Vector s0 = a, s1 = a, s2 = a, s3 = a, s4 = a, s5 = a, s6 = a, s7 = a, s8 = a, s9 = a, s10 = a, s11 = a, t;     \
    for (std::int64_t r = 0; r < repeats; ++r)                                                                      \
      asm volatile(BENANZA_EACH_CHAIN(instructions)                                                                 \
                   : "+" registers(s0), "+" registers(s1), "+" registers(s2), "+" registers(s3), "+" registers(s4), \
                     "+" registers(s5), "+" registers(s6), "+" registers(s7), "+" registers(s8), "+" registers(s9), \
                     "+" registers(s10), "+" registers(s11), "=&" registers(t)                                      \
                   : registers(a), registers(b));                                                                   \
    return 2.0 * (lanes)*chains * static_cast<double>(repeats);                                                     \
  }

// Without VNNI: products of bytes summed in pairs to 16 bits, the most that the extension multiplies at once; widening
// the sums is not included.
#define BENANZA_BYTE_PAIRS(c) "vpmaddubsw %14, %13, %12\n\tvpaddw %12, %" #c ", %" #c "\n\t"
#define BENANZA_BYTES(c) "vpdpbusd %14, %13, %" #c "\n\t"
#define BENANZA_BYTES_AVX2(c) "%{vex%} vpdpbusd %14, %13, %" #c "\n\t"
#define BENANZA_BF16(c) "vdpbf16ps %14, %13, %" #c "\n\t"
#define BENANZA_F16(c) "vfmadd231ph %14, %13, %" #c "\n\t"

BENANZA_MULTIPLY_ADD(bytes_avx2, "avx2", __m256i, "x", _mm256_set1_epi8, 32, BENANZA_BYTE_PAIRS)
BENANZA_MULTIPLY_ADD(bytes_avx_vnni, "avx2", __m256i, "x", _mm256_set1_epi8, 32, BENANZA_BYTES_AVX2)
BENANZA_MULTIPLY_ADD(bytes_avx512, "avx512f,avx512bw", __m512i, "v", _mm512_set1_epi8, 64, BENANZA_BYTE_PAIRS)
BENANZA_MULTIPLY_ADD(bytes_avx512_vnni, "avx512f,avx512bw,avx512vnni", __m512i, "v", _mm512_set1_epi8, 64,
                     BENANZA_BYTES)
BENANZA_MULTIPLY_ADD(bf16_avx512, "avx512f,avx512bw,avx512bf16", __m512i, "v", _mm512_set1_epi16, 32, BENANZA_BF16)
BENANZA_MULTIPLY_ADD(f16_avx512, "avx512f,avx512bw,avx512fp16", __m512i, "v", _mm512_set1_epi16, 32, BENANZA_F16)

#undef BENANZA_F16
#undef BENANZA_BF16
#undef BENANZA_BYTES_AVX2
#undef BENANZA_BYTES
#undef BENANZA_BYTE_PAIRS
#undef BENANZA_MULTIPLY_ADD
#undef BENANZA_EACH_CHAIN

}  // namespace
#endif

std::vector<MultiplyAdd> multiply_adds(std::string_view isa) {
  const PeakKernels& widest = peak_kernels();
  const std::string instruction = std::string("fma:") + widest.isa;
  std::vector<MultiplyAdd> result{{DataType::f32, instruction, widest.multiply_add},
                                  {DataType::f64, instruction, widest.multiply_add_double}};
#if defined(__x86_64__)
  // As in Machine::isa; each AVX-512 set includes those before it.
  constexpr std::string_view order[] = {"avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_fp16",
                                        "avx512_core_amx"};
  std::size_t level = 0;
  while (level < std::size(order) && order[level] != isa) ++level;
  const bool wide = level < std::size(order);
  if (isa == "avx2") result.push_back({DataType::i8, "maddubs:avx2", bytes_avx2});
  if (isa == "avx2_vnni") result.push_back({DataType::i8, "dpbusd:avx2_vnni", bytes_avx_vnni});
  if (wide && level == 0) result.push_back({DataType::i8, "maddubs:avx512_core", bytes_avx512});
  if (wide && level >= 1) result.push_back({DataType::i8, "dpbusd:avx512_core_vnni", bytes_avx512_vnni});
  if (wide && level >= 2) result.push_back({DataType::bf16, "dpbf16:avx512_core_bf16", bf16_avx512});
  if (wide && level >= 3) result.push_back({DataType::f16, "fma:avx512_core_fp16", f16_avx512});
  if (wide && level >= 4)
    for (auto& each : tile_multiply_adds()) result.push_back(std::move(each));
  // If no instruction computes in a 16-bit type, its numbers are widened to f32, and the peak of f32 is its peak.
  for (const DataType type : {DataType::bf16, DataType::f16}) {
    const auto is_same = [type](const MultiplyAdd& each) { return each.type == type; };
    if (std::none_of(result.begin(), result.end(), is_same))
      result.push_back({type, instruction + ",in=f32", widest.multiply_add});
  }
#else
  static_cast<void>(isa);
#endif
  return result;
}

}  // namespace benanza::ceilings
