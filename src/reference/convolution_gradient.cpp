// SPDX-License-Identifier: Apache-2.0
// Gradients of y[n, m, o] = sum over c, k of x[n, c, o * stride + k * dilation - pad] * w[m, c, k]: for each factor,
// the sum over the products that contain it of the other factor times dy.
#include "evaluate.hpp"
#include "index.hpp"
#include <benanza/base/detail/window.hpp>

namespace benanza::reference {

namespace {

/// dx[n, c, i]: the sum over the outputs m of c's group, and over the taps k and positions o for which
/// o * stride + k * dilation - pad is i.
double to_data(const op::ConvGradient& op, const Query& query, const TensorShape& at) {
  const TensorShape y = op.y(), kernel = part(op.w, 2, op.w.size()), places = part(y, 2, y.size());
  const ConstTensor &dy = query.input(0), &w = query.input(1);
  const std::int64_t taps = element_count(kernel), plane = element_count(places), outputs = op.w[0] / op.group;
  const std::int64_t first = at[1] / op.w[1] * outputs, channel = at[1] % op.w[1];
  TensorShape tap = TensorShape::filled(kernel.size(), 0);
  double sum = 0;
  std::int64_t k = 0;
  do {
    std::int64_t place = 0;
    bool reached = true;
    for (std::size_t axis = 0; axis < kernel.size() && reached; ++axis) {
      const std::int64_t stride = detail::at_or(op.strides, axis, 1);
      const std::int64_t offset =
          at[axis + 2] + detail::at_or(op.pads, axis, 0) - tap[axis] * detail::at_or(op.dilations, axis, 1);
      reached = offset >= 0 && offset % stride == 0 && offset / stride < places[axis];
      place = place * places[axis] + offset / stride;
    }
    if (reached)
      for (std::int64_t m = first; m < first + outputs; ++m)
        sum += dy[(at[0] * op.w[0] + m) * plane + place] * w[(m * op.w[1] + channel) * taps + k];
    ++k;
  } while (advance(kernel, tap));
  return sum;
}

/// dw[m, c, k]: the sum over the images n and over the positions o whose tap k is inside x.
double to_weights(const op::ConvGradient& op, const Query& query, const TensorShape& at) {
  const TensorShape y = op.y(), places = part(y, 2, y.size()), plane = part(op.x, 2, op.x.size());
  const ConstTensor &x = query.input(0), &dy = query.input(1);
  const std::int64_t elements = element_count(plane), count = element_count(places);
  const std::int64_t channel = at[0] / (op.w[0] / op.group) * op.w[1] + at[1];
  TensorShape place = TensorShape::filled(places.size(), 0);
  double sum = 0;
  std::int64_t o = 0;
  do {
    std::int64_t inside = 0;
    bool read = true;
    for (std::size_t axis = 0; axis < places.size() && read; ++axis) {
      const std::int64_t i = place[axis] * detail::at_or(op.strides, axis, 1) +
                             at[axis + 2] * detail::at_or(op.dilations, axis, 1) - detail::at_or(op.pads, axis, 0);
      read = i >= 0 && i < plane[axis];
      inside = inside * plane[axis] + i;
    }
    if (read)
      for (std::int64_t n = 0; n < op.x[0]; ++n)
        sum += x[(n * op.x[1] + channel) * elements + inside] * dy[(n * op.w[0] + at[0]) * count + o];
    ++o;
  } while (advance(places, place));
  return sum;
}

}  // namespace

Elements compute(const op::ConvGradient& gradient, const Query& query) {
  const bool data = gradient.of == op::ConvGradientOf::data;
  return query.map([&](std::int64_t flat) {
    return data ? to_data(gradient, query, coordinates(gradient.x, flat))
                : to_weights(gradient, query, coordinates(gradient.w, flat));
  });
}

}  // namespace benanza::reference
