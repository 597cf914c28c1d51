// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "function.hpp"

#include <cmath>

namespace benanza::reference {

namespace {

/// Scale and zero point of DynamicQuantizeLinear, which maps [min(x, 0), max(x, 0)] to the integers of the type.
struct DynamicRange {
  double scale = 1;
  double zero_point = 0;
};
DynamicRange dynamic_range(const ConstTensor& x, DataType to) {
  double smallest = 0, largest_x = 0;
  for (std::int64_t i = 0; i < element_count(x.shape); ++i) {
    smallest = std::min(smallest, x[i]);
    largest_x = std::max(largest_x, x[i]);
  }
  const auto [least, largest] = integer_range(to);
  const double scale = round_to(x.type, (largest_x - smallest) / (largest - least));
  if (scale == 0) return {.scale = 0, .zero_point = 0};
  return {.scale = scale, .zero_point = std::clamp(std::nearbyint(least - smallest / scale), least, largest)};
}

/// The index of the scale of an element: there is one for all, one per channel, or one per block of channels and inner
/// position.
std::int64_t channel(const TensorShape& x, std::int64_t block, const ConstTensor& scales, std::int64_t flat) {
  const std::int64_t c = flat / x[2] % x[1];
  if (block > 0) return (flat / (x[1] * x[2]) * scales.shape[1] + c / block) * x[2] + flat % x[2];
  return element_count(scales.shape) == 1 ? 0 : c;
}

/// y = saturate(round(x / scale) + zero_point). The quotient is rounded to the type of x first, as in ONNX.
double quantized(double x, double scale, double zero_point, DataType from, DataType to) {
  const double quotient = scale == 0 ? 0 : round_to(from, x / scale);
  return is_float(to) ? round_to(to, quotient + zero_point) : round_to(to, std::nearbyint(quotient) + zero_point);
}

}  // namespace

Elements compute(const op::Cast& cast, const Query& query) {
  return query.map([&](std::int64_t flat) {
    const double x = query.input(0)[flat];
    if (cast.to == DataType::boolean) return x != 0 ? 1.0 : 0.0;
    if (is_float(cast.to)) return round_to(cast.to, x);
    return wrap(cast.to, std::trunc(x));
  });
}

Elements compute(const op::Quantize& quantize, const Query& query) {
  const ConstTensor& x = query.input(0);
  if (quantize.dynamic) {
    const DynamicRange range = dynamic_range(x, quantize.to);
    return query.map([&](std::int64_t flat) {
      if (query.output == 1) return range.scale;
      if (query.output == 2) return range.zero_point;
      return quantized(x[flat], range.scale, range.zero_point, quantize.type, quantize.to);
    });
  }
  const ConstTensor &scales = query.input(1), &zero_points = query.input(2);
  return query.map([&](std::int64_t flat) {
    const std::int64_t c = channel(quantize.x, quantize.block, scales, flat);
    return quantized(x[flat], scales[c], zero_points[c], quantize.type, quantize.to);
  });
}

Elements compute(const op::Dequantize& dequantize, const Query& query) {
  const ConstTensor &scales = query.input(1), &zero_points = query.input(2);
  return query.map([&](std::int64_t flat) {
    const std::int64_t c = channel(dequantize.x, dequantize.block, scales, flat);
    return (query.input(0)[flat] - zero_points[c]) * scales[c];
  });
}

}  // namespace benanza::reference
