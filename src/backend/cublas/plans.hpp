// SPDX-License-Identifier: Apache-2.0
// The plans of a product, by cuBLAS's own calls and by cuBLASLt's, and of attention as products.
#pragma once

#include "library.hpp"
#include "problem.hpp"
#include <benanza/plan/backend.hpp>

namespace benanza::cublas {

/// Adds GemmEx, GemmStridedBatchedEx and, for vectors, Gemv; without epilogue.
void add_blas_plans(const Problem& problem, const Operands& operands, const std::shared_ptr<const Handles>& handles,
                    Plans& plans);
/// Adds every result of cuBLASLt's heuristic. Returns the reason if there is none, otherwise empty.
[[nodiscard]] std::optional<std::string> add_lt_plans(const Problem& problem, const Epilogue& post,
                                                      const Operands& operands,
                                                      const std::shared_ptr<const Handles>& handles, Plans& plans);

/// Attention as separate steps (attention.hpp).
[[nodiscard]] std::variant<Plans, Unsupported> attention_plans(const op::Attention& op, const Operands& operands,
                                                               const std::shared_ptr<const Handles>& handles);

/// Enqueues y = factor * a b, or such a product for each entry of the batch.
void gemm(const Problem& problem, cublasHandle_t handle, const void* a, const void* b, void* y);

}  // namespace benanza::cublas
