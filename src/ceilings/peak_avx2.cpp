// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2 -mfma -ffp-contract=fast; empty for other processors.
#if defined(__AVX2__)
#include <immintrin.h>
#define BENANZA_VECTOR_BYTES 32
#define BENANZA_CHAINS 12
#define BENANZA_STREAM(to, value) _mm256_stream_ps(to, value)
#define BENANZA_FENCE() _mm_sfence()
#include "peak_kernels.inc"

namespace benanza::ceilings {
const PeakKernels peak_kernels_avx2{.isa = "avx2",
                                    .multiply_add = multiply_add<float, Vector>,
                                    .multiply_add_double = multiply_add<double, Doubles>,
                                    .walk = walk_any};
}  // namespace benanza::ceilings
#endif
