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
    result.order = ElementOrder(
        std::vector<OrderDigit>{{images, channels * plane}, {blocks(), plane * lanes}, {plane, 1}, {lanes, plane}});
  return result;
}

Index Blocked::position(Index index) const {
  const Index at = index % plane, channel = index / plane % channels, image = index / plane / channels;
  return ((image * blocks() + channel / lanes) * plane + at) * lanes + channel % lanes;
}

/// Visits the blocks with the offset of their first channel in row-major memory, their number of channels, and their
/// offset in this layout.
template <class Visit>
void Blocked::each_block(Visit visit) const {
  for (Index image = 0; image < images; ++image)
    for (Index block = 0; block < blocks(); ++block)
      visit((image * channels + block * lanes) * plane, std::min(lanes, channels - block * lanes),
            (image * blocks() + block) * plane * lanes);
}

void Blocked::pack(const float* plain, float* packed) const {
  each_block([&](Index first, Index some, Index at) {
    float* const to = packed + at;
    for (Index p = 0; p < plane; ++p) {
      for (Index c = 0; c < some; ++c) to[p * lanes + c] = plain[first + c * plane + p];
      for (Index c = some; c < lanes; ++c) to[p * lanes + c] = 0;
    }
  });
}

void Blocked::unpack(const float* packed, float* plain) const {
  each_block([&](Index first, Index some, Index at) {
    for (Index c = 0; c < some; ++c)
      for (Index p = 0; p < plane; ++p) plain[first + c * plane + p] = packed[at + p * lanes + c];
  });
}

}  // namespace benanza::native
