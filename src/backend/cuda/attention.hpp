// SPDX-License-Identifier: Apache-2.0
// The softmax between the two products of attention as Benanza's own CUDA kernel, for backends whose library only has
// products.
#pragma once

#include <benanza/model/data_type.hpp>

#include <cstdint>

namespace benanza::cuda {

/// Scores of shape batch x heads x queries x keys.
struct WeightShape {
  std::int64_t batch = 1, heads = 1, queries = 1, keys = 1;
  std::int64_t mask_strides[4]{};  ///< of these dimensions, 0 where the mask broadcasts
  bool causal = false;             ///< query i attends to keys 0 to i
};

/// Enqueues a kernel on the stream (cudaStream_t) that turns scores into attention weights in place: it adds the mask's
/// elements and computes a softmax along the keys. `type`: f32, tf32, f16 or bf16, of scores and mask. A null `mask`
/// means no mask. Throws EnvironmentError for a failed launch, UsageError for another type.
void attention_weights(const WeightShape& shape, DataType type, const void* mask, void* scores, void* stream);

}  // namespace benanza::cuda
