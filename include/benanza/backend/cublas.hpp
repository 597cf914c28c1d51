// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuBLASLt (12 or later) on an NVIDIA GPU: GemmEx, its strided batches, Gemv, every result of cuBLASLt's
// heuristic with its epilogues, convolutions of 1x1 as products, and attention as two products with a softmax of
// Benanza's own in between. The libraries are loaded when they are first used.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::cublas {

/// On `cuda::device()`.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::cublas
