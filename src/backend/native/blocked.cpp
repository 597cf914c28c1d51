// SPDX-License-Identifier: Apache-2.0
#include "blocked.hpp"

#include <algorithm>
#include <string>

namespace benanza::native {

Blocked::Blocked(const TensorShape& shape, Index lanes_of_vector)
    : images(shape[0]), channels(shape[1]), plane(shape[2] * shape[3]), lanes(lanes_of_vector) {}

Layout Blocked::layout() const {
  Layout result{.name = "blocked" + std::to_string(lanes),
                .bytes = static_cast<std::size_t>(images * blocks() * plane * lanes) * sizeof(float)};
  if (channels % lanes == 0)
    result.order = ElementOrder(std::vector<OrderDigit>{
        {images, channels * plane}, {blocks(), plane * lanes}, {plane, 1}, {lanes, plane}});
  return result;
}

Index Blocked::position(Index index) const {
  const Index at = index % plane, channel = index / plane % channels, image = index / plane / channels;
  return ((image * blocks() + channel / lanes) * plane + at) * lanes + channel % lanes;
}

void Blocked::pack(const float* plain, float* packed) const {
  std::fill_n(packed, images * blocks() * plane * lanes, 0.0F);
  for (Index i = 0; i < images * channels * plane; ++i) packed[position(i)] = plain[i];
}

void Blocked::unpack(const float* packed, float* plain) const {
  for (Index i = 0; i < images * channels * plane; ++i) plain[i] = packed[position(i)];
}

TensorShape blocked_shape(const TensorShape& shape, Index lanes) {
  const bool one = shape[1] == 1;
  return {shape[0], one ? 1 : (shape[1] + lanes - 1) / lanes, shape[2], shape[3], one ? 1 : lanes};
}

}  // namespace benanza::native
