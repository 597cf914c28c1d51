// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuBLASLt (12 or later) on an NVIDIA GPU: GemmEx, its strided batches, Gemv, every result of cuBLASLt's
// heuristic with its epilogues, 1x1 convolutions as products, and attention as two products with Benanza's own softmax
// in between. The libraries are loaded when they are first used.
#pragma once

#include <memory>

namespace benanza {
class Backend;
}

namespace benanza::cublas {

/// On `cuda::device()`.
[[nodiscard]] std::shared_ptr<const Backend> backend();

}  // namespace benanza::cublas
