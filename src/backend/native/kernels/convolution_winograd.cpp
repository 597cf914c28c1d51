// SPDX-License-Identifier: Apache-2.0
// Transforms of Winograd's minimal filtering with 3x3 taps, as in Lavin and Gray, "Fast algorithms for convolutional
// neural networks" (CVPR 2016). The points of the larger form are 0, 1, -1, 2, -2 and infinity.
#include "kernels.hpp"
#include "kernels/simd.hpp"

namespace benanza::native::BENANZA_NATIVE_ISA {
namespace {

/// Elements of x to sums of products, along one axis.
inline void to_points(const F (&d)[4], F (&p)[4]) {
  p[0] = d[0] - d[2];
  p[1] = d[1] + d[2];
  p[2] = d[2] - d[1];
  p[3] = d[1] - d[3];
}
inline void to_points(const F (&d)[6], F (&p)[6]) {
  const F two = splat(2.0F), four = splat(4.0F), five = splat(5.0F);
  const F even = d[4] - four * d[2], odd = d[3] - four * d[1];
  const F even_far = d[4] - d[2], odd_far = two * (d[3] - d[1]);
  p[0] = four * d[0] - five * d[2] + d[4];
  p[1] = even + odd;
  p[2] = even - odd;
  p[3] = even_far + odd_far;
  p[4] = even_far - odd_far;
  p[5] = four * d[1] - five * d[3] + d[5];
}
/// Sums of products to elements of y, along one axis.
inline void to_results(const F (&p)[4], F (&y)[2]) {
  y[0] = p[0] + p[1] + p[2];
  y[1] = p[1] - p[2] - p[3];
}
inline void to_results(const F (&p)[6], F (&y)[4]) {
  const F two = splat(2.0F), four = splat(4.0F), eight = splat(8.0F);
  const F even = p[1] + p[2], odd = p[1] - p[2], even_far = p[3] + p[4], odd_far = p[3] - p[4];
  y[0] = p[0] + even + even_far;
  y[1] = odd + two * odd_far;
  y[2] = even + four * even_far;
  y[3] = odd + eight * odd_far + p[5];
}

template <int results>
void patch(const WinogradPatch& a) {
  constexpr int points = results + 2;
  for (Index block = 0; block < a.blocks; ++block) {
    const float* const x = a.x + block * a.x_block;
    float* const points_of_block = a.points + block * a.points_block;
    F by_column[points][points];
    for (int row = 0; row < points; ++row) {
      F elements[points];
      for (int column = 0; column < points; ++column) {
        const Index at = a.elements[row * points + column];
        elements[column] = at < 0 ? splat(0.0F) : load(x + at);
      }
      to_points(elements, by_column[row]);
    }
    for (int column = 0; column < points; ++column) {
      F elements[points], sums[points];
      for (int row = 0; row < points; ++row) elements[row] = by_column[row][column];
      to_points(elements, sums);
      for (int row = 0; row < points; ++row) store(points_of_block + (row * points + column) * a.point, sums[row]);
    }
  }
}

template <int results>
void tile(const WinogradTile& a) {
  constexpr int points = results + 2;
  const F least = splat(a.least), most = splat(a.most);
  for (Index vector = 0; vector < a.vectors; ++vector) {
    const float* const sums = a.sums + vector * a.sums_vector;
    F by_column[points][results];
    for (int row = 0; row < points; ++row) {
      F along_row[points];
      for (int column = 0; column < points; ++column)
        along_row[column] = load(sums + (row * points + column) * a.point);
      to_results(along_row, by_column[row]);
    }
    const F bias = a.bias != nullptr ? load(a.bias + vector * lanes) : splat(0.0F);
    for (int column = 0; column < results; ++column) {
      F along_column[points], y[results];
      for (int row = 0; row < points; ++row) along_column[row] = by_column[row][column];
      to_results(along_column, y);
      for (int row = 0; row < results; ++row) {
        const Index at = a.results[row * results + column];
        if (at < 0) continue;
        F value = y[row] + bias;
        if (a.addend != nullptr) value += load(a.addend + vector * a.y_vector + at);
        store(a.y + vector * a.y_vector + at, min(most, max(least, value)));
      }
    }
  }
}

}  // namespace

void add_winograd(Kernels& kernels) {
  kernels.winograd_patch[0] = patch<2>;
  kernels.winograd_patch[1] = patch<4>;
  kernels.winograd_tile[0] = tile<2>;
  kernels.winograd_tile[1] = tile<4>;
}

}  // namespace benanza::native::BENANZA_NATIVE_ISA
