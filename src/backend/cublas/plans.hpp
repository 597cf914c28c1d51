// SPDX-License-Identifier: Apache-2.0
// The plans of a product: cuBLAS's own calls, and cuBLASLt's.
#pragma once

#include "library.hpp"
#include "problem.hpp"
#include <benanza/plan/backend.hpp>

namespace benanza::cublas {

/// GemmEx, GemmStridedBatchedEx and, for vectors, Gemv; without epilogue.
void add_blas_plans(const Problem& problem, const Operands& operands, const std::shared_ptr<const Handles>& handles,
                    Plans& plans);
/// Every result of cuBLASLt's heuristic. Returns why there is none, or nothing.
[[nodiscard]] std::optional<std::string> add_lt_plans(const Problem& problem, const Epilogue& post,
                                                      const Operands& operands,
                                                      const std::shared_ptr<const Handles>& handles, Plans& plans);

}  // namespace benanza::cublas
