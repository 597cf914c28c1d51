// SPDX-License-Identifier: Apache-2.0
// The softmax between the two products of attention as an own CUDA kernel, for backends whose library multiplies only.
#pragma once

#include <benanza/model/data_type.hpp>

#include <cstdint>

namespace benanza::cuda {

/// Scores of batch x heads x queries x keys.
struct WeightShape {
  std::int64_t batch = 1, heads = 1, queries = 1, keys = 1;
  std::int64_t mask_strides[4]{};  ///< in those dimensions, 0 where the mask broadcasts
  bool causal = false;             ///< query i takes keys 0 to i
};

/// Enqueues on the stream (cudaStream_t): scores, each with its element of the mask added, become the weights of
/// attention in place, a softmax along the keys. `type`: f32, tf32, f16 or bf16, of scores and mask; mask null: none.
/// Throws EnvironmentError for a failed launch, UsageError for another type.
void attention_weights(const WeightShape& shape, DataType type, const void* mask, void* scores, void* stream);

}  // namespace benanza::cuda
