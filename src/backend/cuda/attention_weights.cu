// SPDX-License-Identifier: Apache-2.0
// The softmax inside attention, in place. Each row is read once per pass, from the caches after the first pass.
#include "team.cuh"

#include <cfloat>

namespace benanza::cuda {

namespace {

template <class Team, class T>
__global__ void __launch_bounds__(Team::most_threads)
    weights_kernel(WeightShape shape, const T* __restrict__ mask, T* __restrict__ scores) {
  const std::int64_t rows = shape.batch * shape.heads * shape.queries;
  for (std::int64_t row = Team::first_row(); row < rows; row += Team::row_step()) {
    std::int64_t batch = row;
    const std::int64_t query = take(batch, shape.queries), head = take(batch, shape.heads);
    const std::int64_t last = shape.causal && query + 1 < shape.keys ? query + 1 : shape.keys;
    T* const of_row = scores + row * shape.keys;
    const T* const of_mask = mask == nullptr ? nullptr
                                             : mask + batch * shape.mask_strides[0] + head * shape.mask_strides[1] +
                                                   query * shape.mask_strides[2];
    const auto score = [&](std::int64_t key) {
      return to_f32(of_row[key]) + (of_mask == nullptr ? 0.0F : to_f32(of_mask[key * shape.mask_strides[3]]));
    };
    float most = -FLT_MAX, sum = 0;
    for (std::int64_t key = Team::rank(); key < last; key += Team::size()) most = fmaxf(most, score(key));
    most = Team::all(most, -FLT_MAX, Most());
    for (std::int64_t key = Team::rank(); key < last; key += Team::size()) sum += expf(score(key) - most);
    sum = Team::all(sum, 0, Sum());
    for (std::int64_t key = Team::rank(); key < shape.keys; key += Team::size())
      of_row[key] = from_f32<T>(key < last ? expf(score(key) - most) / sum : 0.0F);
  }
}

}  // namespace

void attention_weights(const WeightShape& shape, Element element, const void* mask, void* scores, cudaStream_t stream) {
  with_wide(element, [&](auto zero) {
    using T = decltype(zero);
    with_team(shape.batch * shape.heads * shape.queries, shape.keys, [&](auto team, unsigned blocks, int threads) {
      weights_kernel<decltype(team), T>
          <<<blocks, threads, 0, stream>>>(shape, static_cast<const T*>(mask), static_cast<T*>(scores));
    });
  });
}

}  // namespace benanza::cuda
