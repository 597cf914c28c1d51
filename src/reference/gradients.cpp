// SPDX-License-Identifier: Apache-2.0
// Gradients of element-wise functions, softmax and normalisations.
#include "evaluate.hpp"
#include "function.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace benanza::reference {

namespace {

/// The derivative at `value`, which is the result for the functions of UnaryGradient::reads_result and the operand for
/// the others. At a corner, it is 0 or one of the two slopes.
double derivative(ElementwiseFn fn, double value, double alpha, double beta) {
  using enum ElementwiseFn;
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); };
  switch (fn) {
    case relu: return value > 0 ? 1 : 0;
    case sigmoid: return value * (1 - value);
    case ElementwiseFn::tanh: return 1 - value * value;
    case ElementwiseFn::exp: return value;
    case ElementwiseFn::sqrt: return 0.5 / value;
    case reciprocal: return -value * value;
    case elu: return value > 0 ? 1 : value + alpha;
    case leaky_relu: return value > 0 ? 1 : alpha;
    case hard_sigmoid: return value > 0 && value < 1 ? alpha : 0;
    case ElementwiseFn::abs: return value > 0 ? 1 : value < 0 ? -1 : 0;
    case celu: return value > 0 ? 1 : std::exp(value / alpha);
    case clip: return value > alpha && value < beta ? 1 : 0;
    case ElementwiseFn::cos: return -std::sin(value);
    case ElementwiseFn::sin: return std::cos(value);
    case ElementwiseFn::erf: return 2 / std::sqrt(std::numbers::pi) * std::exp(-value * value);
    case ElementwiseFn::log: return 1 / value;
    case gelu: return 0.5 * (1 + std::erf(value / std::numbers::sqrt2)) + value * density(value);
    case gelu_tanh: {
      const double root = std::sqrt(2 / std::numbers::pi), inner = root * (value + 0.044715 * value * value * value);
      const double t = std::tanh(inner);
      return 0.5 * (1 + t) + 0.5 * value * (1 - t * t) * root * (1 + 3 * 0.044715 * value * value);
    }
    case hard_swish: return value <= -3 ? 0 : value >= 3 ? 1 : value / 3 + 0.5;
    case swish: {
      const double s = reference::sigmoid(alpha * value);
      return s + alpha * value * s * (1 - s);
    }
    case mish: {
      const double t = std::tanh(std::log1p(std::exp(value)));
      return t + value * (1 - t * t) * reference::sigmoid(value);
    }
    case selu: return beta * (value > 0 ? 1 : alpha * std::exp(value));
    case shrink: return value > beta || value < -beta ? 1 : 0;
    case softplus: return reference::sigmoid(value);
    case softsign: return 1 / ((1 + std::fabs(value)) * (1 + std::fabs(value)));
    case thresholded_relu: return value > alpha ? 1 : 0;
    default: return 0;  // no other function is consistent
  }
}

}  // namespace

Elements compute(const op::UnaryGradient& gradient, const Query& query) {
  return query.map([&](std::int64_t flat) {
    return query.input(0)[flat] * derivative(gradient.fn, query.input(1)[flat], gradient.alpha, gradient.beta);
  });
}

Elements compute(const op::SoftmaxGradient& gradient, const Query& query) {
  const std::int64_t length = gradient.x[1], inner = gradient.x[2];
  const ConstTensor &dy = query.input(0), &y = query.input(1);
  Elements result(query.size());
  const auto row_of = [&](std::int64_t flat) { return flat / (length * inner) * inner + flat % inner; };
  query.for_each_group(row_of, [&](std::int64_t row, std::span<const std::size_t> positions) {
    const std::int64_t begin = row / inner * length * inner + row % inner, end = begin + length * inner;
    double sum = 0;
    for (std::int64_t i = begin; i < end; i += inner) sum += gradient.log ? dy[i] : dy[i] * y[i];
    for (auto position : positions) {
      const std::int64_t flat = query.indices[position];
      result[position] = gradient.log ? dy[flat] - std::exp(y[flat]) * sum : y[flat] * (dy[flat] - sum);
    }
  });
  return result;
}

/// With n = (x - mean) / sqrt(var + epsilon) and g = dy scale: dx = (g - mean(g) - n mean(g n)) / sqrt(var + epsilon),
/// dscale = sum(dy n), dbias = sum(dy). RMS: var is the mean of squares, and there is no mean(g).
Elements compute(const op::NormGradient& gradient, const Query& query) {
  const std::int64_t rows = gradient.x[0], channels = gradient.x[1];
  const std::int64_t inner = gradient.by_channel() ? gradient.x[2] : 1, in_group = channels / gradient.groups;
  const ConstTensor &dy = query.input(0), &x = query.input(1);
  const std::size_t mean = gradient.affine ? 3 : 2, var = gradient.has_mean() ? mean + 1 : mean;
  const auto channel_of = [&](std::int64_t flat) { return flat / inner % channels; };
  const auto statistic_of = [&](std::int64_t flat) {
    switch (gradient.of) {
      case op::NormGradientOf::batch: return channel_of(flat);
      case op::NormGradientOf::group: return flat / (inner * in_group);
      default: return flat / channels;
    }
  };
  const auto scale = [&](std::int64_t flat) { return gradient.affine ? query.input(2)[channel_of(flat)] : 1.0; };
  const auto deviation = [&](std::int64_t group) {
    return std::sqrt(query.input(var)[group] + query.parameters.epsilon);
  };
  const auto normal = [&](std::int64_t flat) {
    const std::int64_t group = statistic_of(flat);
    return (x[flat] - (gradient.has_mean() ? query.input(mean)[group] : 0)) / deviation(group);
  };
  /// Visits the elements of a channel.
  const auto for_channel = [&](std::int64_t channel, const auto& visit) {
    for (std::int64_t n = 0; n < rows; ++n)
      for (std::int64_t i = 0; i < inner; ++i) visit((n * channels + channel) * inner + i);
  };
  /// Visits the elements that share a statistic.
  const auto for_statistic = [&](std::int64_t group, const auto& visit) {
    if (gradient.of == op::NormGradientOf::batch) return for_channel(group, visit);
    const std::int64_t count = gradient.of == op::NormGradientOf::group ? in_group * inner : channels;
    for (std::int64_t i = 0; i < count; ++i) visit(group * count + i);
  };
  if (query.output > 0)
    return query.map([&](std::int64_t channel) {
      double sum = 0;
      for_channel(channel, [&](std::int64_t flat) { sum += dy[flat] * (query.output == 1 ? normal(flat) : 1); });
      return sum;
    });
  Elements result(query.size());
  query.for_each_group(statistic_of, [&](std::int64_t group, std::span<const std::size_t> positions) {
    double sum = 0, product = 0, count = 0;
    for_statistic(group, [&](std::int64_t flat) {
      if (gradient.has_mean()) sum += dy[flat] * scale(flat);
      product += dy[flat] * scale(flat) * normal(flat);
      count += 1;
    });
    for (auto position : positions) {
      const std::int64_t flat = query.indices[position];
      result[position] = (dy[flat] * scale(flat) - sum / count - normal(flat) * product / count) / deviation(group);
    }
  });
  return result;
}

}  // namespace benanza::reference
