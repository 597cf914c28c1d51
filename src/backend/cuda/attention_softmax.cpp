// SPDX-License-Identifier: Apache-2.0
#include "attention.hpp"
#include "check.hpp"
#include "context.hpp"
#include "kernels.hpp"
#include <benanza/error.hpp>

#include <string>

namespace benanza::cuda {

void attention_weights(const WeightShape& shape, DataType type, const void* mask, void* scores, void* stream) {
  const auto element = element_of(type);
  if (!element) throw UsageError("attention weights of type " + std::string(name(type)));
  attention_weights(shape, *element, mask, scores, static_cast<cudaStream_t>(stream));
  check(cudaGetLastError(), "attention_weights");
}

}  // namespace benanza::cuda
