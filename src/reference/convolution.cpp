// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"
#include <benanza/base/detail/window.hpp>

namespace benanza::reference {

namespace {

/// One pair of flat offsets within a channel's plane and a kernel.
struct Tap {
  std::int64_t x = 0;
  std::int64_t w = 0;
};

/// The sum of products of both operands over channels and taps. `X` and `W` are float pointers or tensors.
template <class X, class W>
double multiply(const X& x, const W& w, std::int64_t x_base, std::int64_t x_stride, std::int64_t w_base,
                std::int64_t w_stride, std::int64_t channels, std::span<const Tap> taps, double zero_x, double zero_w) {
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c, x_base += x_stride, w_base += w_stride)
    for (const Tap& tap : taps)
      sum += (static_cast<double>(x[x_base + tap.x]) - zero_x) * (static_cast<double>(w[w_base + tap.w]) - zero_w);
  return sum;
}

double multiply(const Query& query, std::int64_t x_base, std::int64_t x_stride, std::int64_t w_base,
                std::int64_t w_stride, std::int64_t channels, std::span<const Tap> taps) {
  const ConstTensor &x = query.input(0), &w = query.input(1);
  if (x.floats() != nullptr && w.floats() != nullptr)
    return multiply(x.floats(), w.floats(), x_base, x_stride, w_base, w_stride, channels, taps, 0, 0);
  return multiply(x, w, x_base, x_stride, w_base, w_stride, channels, taps, query.parameters.zero_point_a,
                  query.parameters.zero_point_b);
}

/// Visits every kernel position: `at(axis, tap)` gives the coordinate in x, or an empty optional outside of it.
template <class At>
std::vector<Tap> in_range_taps(const TensorShape& plane, const TensorShape& kernel, At at) {
  std::vector<Tap> taps;
  if (element_count(kernel) == 0) return taps;
  TensorShape tap = TensorShape::filled(kernel.size(), 0);
  std::int64_t w = 0;
  do {
    std::int64_t x = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < plane.size() && inside; ++axis) {
      const std::optional<std::int64_t> coordinate = at(axis, tap[axis]);
      inside = coordinate && *coordinate >= 0 && *coordinate < plane[axis];
      if (inside) x = x * plane[axis] + *coordinate;
    }
    if (inside) taps.push_back({x, w});
    ++w;
  } while (advance(kernel, tap));
  return taps;
}

}  // namespace

Elements compute(const op::Conv& conv, const Query& query) {
  const TensorShape y = conv.y(), plane = part(conv.x, 2, conv.x.size()), kernel = part(conv.w, 2, conv.w.size());
  const std::int64_t plane_size = element_count(plane), kernel_size = element_count(kernel);
  const std::int64_t channels = conv.w[1], outputs_of_group = conv.w[0] / conv.group;
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    const auto taps =
        in_range_taps(plane, kernel, [&](std::size_t axis, std::int64_t k) -> std::optional<std::int64_t> {
          return at[axis + 2] * detail::at_or(conv.strides, axis, 1) + k * detail::at_or(conv.dilations, axis, 1) -
                 detail::at_or(conv.pads, axis, 0);
        });
    const std::int64_t first_channel = at[1] / outputs_of_group * channels;
    return multiply(query, (at[0] * conv.x[1] + first_channel) * plane_size, plane_size, at[1] * channels * kernel_size,
                    kernel_size, channels, taps);
  });
}

Elements compute(const op::ConvTranspose& conv, const Query& query) {
  const TensorShape y = conv.y(), plane = part(conv.x, 2, conv.x.size()), kernel = part(conv.w, 2, conv.w.size());
  const std::int64_t plane_size = element_count(plane), kernel_size = element_count(kernel);
  const std::int64_t outputs_of_group = conv.w[1], channels = conv.x[1] / conv.group;
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    const auto taps =
        in_range_taps(plane, kernel, [&](std::size_t axis, std::int64_t k) -> std::optional<std::int64_t> {
          const std::int64_t stride = detail::at_or(conv.strides, axis, 1);
          const std::int64_t reached =
              at[axis + 2] + detail::at_or(conv.pads, axis, 0) - k * detail::at_or(conv.dilations, axis, 1);
          if (reached < 0 || reached % stride != 0) return std::nullopt;
          return reached / stride;
        });
    const std::int64_t first_channel = at[1] / outputs_of_group * channels;
    const std::int64_t w_base = (first_channel * outputs_of_group + at[1] % outputs_of_group) * kernel_size;
    return multiply(query, (at[0] * conv.x[1] + first_channel) * plane_size, plane_size, w_base,
                    outputs_of_group * kernel_size, channels, taps);
  });
}

}  // namespace benanza::reference
