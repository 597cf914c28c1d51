// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"
#include <benanza/base/detail/window.hpp>

#include <cmath>
#include <limits>

namespace benanza::reference {

Elements compute(const op::Pool& pool, const Query& query) {
  const std::size_t spatial = pool.x.size() - 2;
  const TensorShape y = pool.y(), plane = part(pool.x, 2, pool.x.size());
  const std::int64_t plane_size = element_count(plane);
  const ConstTensor& x = query.input(0);
  return query.map([&](std::int64_t flat) {
    const TensorShape at = coordinates(y, flat);
    const std::int64_t base = (at[0] * pool.x[1] + at[1]) * plane_size;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    std::int64_t largest_at = -1, taps = 0, counted = 0;  // counted: taps in x or, with include_pad, in its padding
    TensorShape tap = TensorShape::filled(spatial, 0);
    do {
      std::int64_t offset = 0;
      bool inside = true, in_padding = true;
      for (std::size_t i = 0; i < spatial; ++i) {
        const auto axis = detail::window(pool.x, i, pool.kernel[i], pool.pads, pool.strides, pool.dilations);
        const std::int64_t coordinate = at[i + 2] * axis.stride + tap[i] * axis.dilation - axis.pad_begin;
        inside = inside && coordinate >= 0 && coordinate < axis.size;
        in_padding = in_padding && coordinate < axis.size + axis.pad_end - detail::at_or(pool.ceil_pads, i, 0);
        offset = offset * axis.size + coordinate;
      }
      if (inside || (pool.include_pad && in_padding)) ++counted;
      if (!inside) continue;
      const double value = x[base + offset];
      if (value > largest || taps == 0 || std::isnan(value)) {  // the first of equal values
        largest = value;
        largest_at = base + offset;
      }
      sum += pool.mode == op::PoolMode::lp ? std::pow(std::fabs(value), static_cast<double>(pool.p)) : value;
      ++taps;
    } while (advance(pool.kernel, tap));
    switch (pool.mode) {
      case op::PoolMode::max: return query.output == 1 ? static_cast<double>(largest_at) : largest;
      case op::PoolMode::lp: return std::pow(sum, 1 / static_cast<double>(pool.p));
      case op::PoolMode::average: break;
    }
    const double mean = sum / static_cast<double>(std::max<std::int64_t>(counted, 1));
    return is_float(pool.type) ? mean : std::nearbyint(mean);
  });
}

}  // namespace benanza::reference
