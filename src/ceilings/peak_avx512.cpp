// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx512f -mfma -ffp-contract=fast; empty for other processors.
#if defined(__AVX512F__)
#include <immintrin.h>
#define BENANZA_VECTOR_BYTES 64
#define BENANZA_CHAINS 24
#define BENANZA_STREAM(to, value) _mm512_stream_ps(to, value)
#define BENANZA_FENCE() _mm_sfence()
#include "peak_kernels.inc"

namespace benanza::ceilings {
const PeakKernels peak_kernels_avx512{.isa = "avx512",
                                      .multiply_add = multiply_add<float, Vector>,
                                      .multiply_add_double = multiply_add<double, Doubles>,
                                      .walk = walk_any};
}  // namespace benanza::ceilings
#endif
