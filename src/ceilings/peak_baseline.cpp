// SPDX-License-Identifier: Apache-2.0
#define BENANZA_VECTOR_BYTES 16
#define BENANZA_CHAINS 10
#if defined(__SSE2__)
#include <emmintrin.h>
#define BENANZA_STREAM(to, value) _mm_stream_ps(to, value)
#define BENANZA_FENCE() _mm_sfence()
#else
#define BENANZA_STREAM(to, value) (*reinterpret_cast<Vector*>(to) = (value))
#define BENANZA_FENCE() static_cast<void>(0)
#endif
#include "peak_kernels.inc"

namespace benanza::ceilings {

const PeakKernels peak_kernels_baseline{.isa = "baseline",
                                        .multiply_add = multiply_add<float, Vector>,
                                        .multiply_add_double = multiply_add<double, Doubles>,
                                        .walk = walk_any};

const PeakKernels& peak_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return peak_kernels_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_kernels_avx2;
#endif
  return peak_kernels_baseline;
}

double count_cycles(std::int64_t repeats) {
  std::uint64_t sum = 1, one = 1;
  for (std::int64_t r = 0; r < repeats; ++r) {
#pragma GCC unroll 64
    for (int i = 0; i < 64; ++i) {
#if defined(__x86_64__)
      asm volatile("add %1, %0"
                   : "+r"(sum)
                   : "r"(one));  // adds two registers, because additions of small constants may cost nothing
#elif defined(__aarch64__)
      asm volatile("add %0, %0, %1" : "+r"(sum) : "r"(one));
#else
      asm volatile("" : "+r"(sum) : "r"(one));
      sum += one;
#endif
    }
  }
  return 64.0 * static_cast<double>(repeats);
}

}  // namespace benanza::ceilings
