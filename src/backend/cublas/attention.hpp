// SPDX-License-Identifier: Apache-2.0
// Attention as separate steps: scores = q k^T, weights = softmax(scores + mask), y = weights v. Two batched products of
// cuBLAS with one of Benanza's own kernels in between, for types and shapes that no library fuses.
#pragma once

#include "backend/cuda/attention.hpp"
#include "problem.hpp"

#include <string>
#include <variant>

namespace benanza::cublas {

struct AttentionParts {
  Problem scores{}, result{};
  DataType type = DataType::f32;
  cuda::WeightShape weights{};
  std::size_t score_bytes = 0;
};

/// The parts, or the reason why there are none.
[[nodiscard]] std::variant<AttentionParts, std::string> describe(const op::Attention& op);

}  // namespace benanza::cublas
