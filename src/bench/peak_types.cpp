// SPDX-License-Identifier: Apache-2.0
// Multiply-adds in other types than f32, one function for each instruction that does them. In assembly, since a
// compiler would compute the same product once.
#include "peak_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace benanza::bench {

#if defined(__x86_64__)
namespace {

constexpr int chains = 12;  // latency x units of the multiply-add, within the registers of AVX2

// `instructions` add the products of %2 and %3 to the chain %0; %1 is scratch. A function each, since a string of
// assembly is no template argument.
#define BENANZA_MULTIPLY_ADD(function, features, Vector, registers, set, lanes, instructions)                      \
  __attribute__((target(features))) double function(std::int64_t repeats) {                                        \
    const Vector a = set(1), b = set(1);                                                                           \
    Vector sums[chains], scratch;                                                                                  \
    for (int i = 0; i < chains; ++i) sums[i] = a;                                                                  \
    for (std::int64_t r = 0; r < repeats; ++r) {                                                                   \
      _Pragma("GCC unroll 12") for (int i = 0; i < chains; ++i) {                                                  \
        asm volatile(instructions : "+" registers(sums[i]), "=&" registers(scratch) : registers(a), registers(b)); \
      }                                                                                                            \
    }                                                                                                              \
    for (int i = 0; i < chains; ++i) asm volatile("" : : "m"(sums[i]));                                            \
    return 2.0 * (lanes)*chains * static_cast<double>(repeats);                                                    \
  }

// Without VNNI: products of bytes summed in pairs to 16 bits, the most that the extension multiplies at once; widening
// the sums comes on top.
BENANZA_MULTIPLY_ADD(bytes_avx2, "avx2", __m256i, "x", _mm256_set1_epi8, 32,
                     "vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0")
BENANZA_MULTIPLY_ADD(bytes_avx_vnni, "avx2", __m256i, "x", _mm256_set1_epi8, 32, "%{vex%} vpdpbusd %3, %2, %0")
BENANZA_MULTIPLY_ADD(bytes_avx512, "avx512f,avx512bw", __m512i, "v", _mm512_set1_epi8, 64,
                     "vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0")
BENANZA_MULTIPLY_ADD(bytes_avx512_vnni, "avx512f,avx512bw,avx512vnni", __m512i, "v", _mm512_set1_epi8, 64,
                     "vpdpbusd %3, %2, %0")
BENANZA_MULTIPLY_ADD(bf16_avx512, "avx512f,avx512bw,avx512bf16", __m512i, "v", _mm512_set1_epi16, 32,
                     "vdpbf16ps %3, %2, %0")
BENANZA_MULTIPLY_ADD(f16_avx512, "avx512f,avx512bw,avx512fp16", __m512i, "v", _mm512_set1_epi16, 32,
                     "vfmadd231ph %3, %2, %0")

#undef BENANZA_MULTIPLY_ADD

}  // namespace
#endif

std::vector<MultiplyAdd> multiply_adds(std::string_view isa) {
  const PeakKernels& widest = peak_kernels();
  std::vector<MultiplyAdd> result{{DataType::f32, std::string("fma:") + widest.isa, widest.multiply_add}};
#if defined(__x86_64__)
  // As in Machine::isa; each of AVX-512 has what those before it have.
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
#else
  static_cast<void>(isa);
#endif
  return result;
}

}  // namespace benanza::bench
