// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <cmath>
#include <limits>

namespace benanza::reference {

namespace {

/// Mean and variance of consecutive elements `x(i)`, with the variance in a second pass, as in its definition.
struct Statistics {
  double mean = 0;
  double variance = 0;
};
template <class X>
Statistics statistics(const X& x, std::int64_t begin, std::int64_t count) {
  Statistics result;
  for (std::int64_t i = begin; i < begin + count; ++i) result.mean += x(i);
  result.mean /= static_cast<double>(count);
  for (std::int64_t i = begin; i < begin + count; ++i) result.variance += (x(i) - result.mean) * (x(i) - result.mean);
  result.variance /= static_cast<double>(count);
  return result;
}

}  // namespace

Elements compute(const op::BatchNorm& norm, const Query& query) {
  const std::int64_t channels = norm.x[1],
                     inner = element_count(norm.x) / std::max<std::int64_t>(norm.x[0] * channels, 1);
  return query.map([&](std::int64_t flat) {
    const std::int64_t c = flat / inner % channels;
    return (query.input(0)[flat] - query.input(3)[c]) / std::sqrt(query.input(4)[c] + query.parameters.epsilon) *
               query.input(1)[c] +
           query.input(2)[c];
  });
}

Elements compute(const op::LayerNorm& norm, const Query& query) {
  const std::int64_t inner = norm.x[1];
  const auto x = [&](std::int64_t flat) {
    double value = query.input(0)[flat];
    if (norm.residual != op::Residual::none) value += query.input(1)[flat];
    return norm.x_bias ? value + query.input(2)[flat % inner] : value;
  };
  if (query.output == 1) return query.map(x);
  Elements result(query.size());
  query.for_each_group(
      [&](std::int64_t flat) { return flat / inner; },
      [&](std::int64_t row, std::span<const std::size_t> positions) {
        Statistics of_row = statistics(x, row * inner, inner);
        if (norm.rms)
          of_row = {.mean = 0, .variance = of_row.variance + of_row.mean * of_row.mean};  // the mean of squares
        for (auto position : positions) {
          const std::int64_t flat = query.indices[position], column = flat % inner;
          double value = (x(flat) - of_row.mean) / std::sqrt(of_row.variance + query.parameters.epsilon);
          std::size_t next = norm.first_weight();
          if (norm.scale) value *= query.input(next++)[column];
          if (norm.bias) value += query.input(next)[column];
          result[position] = value;
        }
      });
  return result;
}

Elements compute(const op::GroupNorm& norm, const Query& query) {
  const std::int64_t channels = norm.x[1],
                     inner = element_count(norm.x) / std::max<std::int64_t>(norm.x[0] * channels, 1);
  const std::int64_t group_size = channels / norm.groups * inner;
  const auto x = [&](std::int64_t flat) { return query.input(0)[flat]; };
  Elements result(query.size());
  query.for_each_group([&](std::int64_t flat) { return flat / group_size; },
                       [&](std::int64_t group, std::span<const std::size_t> positions) {
                         const Statistics of_group = statistics(x, group * group_size, group_size);
                         for (auto position : positions) {
                           const std::int64_t flat = query.indices[position], c = flat / inner % channels;
                           result[position] = (x(flat) - of_group.mean) /
                                                  std::sqrt(of_group.variance + query.parameters.epsilon) *
                                                  query.input(1)[c] +
                                              query.input(2)[c];
                         }
                       });
  return result;
}

Elements compute(const op::Lrn& lrn, const Query& query) {
  const std::int64_t channels = lrn.x[1], inner = element_count(lrn.x) / std::max<std::int64_t>(lrn.x[0] * channels, 1);
  const ConstTensor& x = query.input(0);
  return query.map([&](std::int64_t flat) {
    const std::int64_t c = flat / inner % channels;
    // ONNX LRN: channels c - floor((size - 1) / 2) to c + ceil((size - 1) / 2).
    const std::int64_t first = std::max<std::int64_t>(0, c - (lrn.size - 1) / 2),
                       last = std::min(channels - 1, c + lrn.size / 2);
    double sum = 0;
    for (std::int64_t i = first; i <= last; ++i) sum += x[flat + (i - c) * inner] * x[flat + (i - c) * inner];
    return x[flat] /
           std::pow(query.parameters.lrn_bias + query.parameters.lrn_alpha / static_cast<double>(lrn.size) * sum,
                    lrn.beta);
  });
}

Elements compute(const op::Softmax& softmax, const Query& query) {
  const std::int64_t length = softmax.x[1], inner = softmax.x[2];
  const ConstTensor& x = query.input(0);
  Elements result(query.size());
  const auto row_of = [&](std::int64_t flat) { return flat / (length * inner) * inner + flat % inner; };
  query.for_each_group(row_of, [&](std::int64_t row, std::span<const std::size_t> positions) {
    const std::int64_t begin = row / inner * length * inner + row % inner, end = begin + length * inner;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t i = begin; i < end; i += inner) largest = std::max(largest, x[i]);
    for (std::int64_t i = begin; i < end; i += inner) sum += std::exp(x[i] - largest);
    for (auto position : positions) {
      const double shifted = x[query.indices[position]] - largest;
      result[position] = softmax.log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  });
  return result;
}

Elements compute(const op::AxisNorm& norm, const Query& query) {
  const std::int64_t length = norm.x[1], inner = norm.x[2];
  const ConstTensor& x = query.input(0);
  Elements result(query.size());
  const auto row_of = [&](std::int64_t flat) { return flat / (length * inner) * inner + flat % inner; };
  query.for_each_group(row_of, [&](std::int64_t row, std::span<const std::size_t> positions) {
    const std::int64_t begin = row / inner * length * inner + row % inner, end = begin + length * inner;
    std::int64_t largest = begin;
    double sum = 0;
    for (std::int64_t i = begin; i < end; i += inner) {
      if (x[i] > x[largest]) largest = i;
      sum += norm.fn == op::AxisNormFn::l1 ? std::fabs(x[i]) : x[i] * x[i];
    }
    const double length_of_row = norm.fn == op::AxisNormFn::l1 ? sum : std::sqrt(sum);
    for (auto position : positions) {
      const std::int64_t flat = query.indices[position];
      if (norm.fn == op::AxisNormFn::hardmax) result[position] = flat == largest ? 1 : 0;
      else result[position] = length_of_row == 0 ? 0 : x[flat] / length_of_row;
    }
  });
  return result;
}

Elements compute(const op::ChannelNorm& norm, const Query& query) {
  const std::int64_t channels = norm.x[1], inner = norm.x[2];
  const std::int64_t count = norm.x[0] * inner;
  const ConstTensor& x = query.input(0);
  const std::size_t first_running = norm.affine ? 3 : 1;
  Elements result(query.size());
  const auto channel_of = [&](std::int64_t flat) { return query.output == 0 ? flat / inner % channels : flat; };
  query.for_each_group(channel_of, [&](std::int64_t c, std::span<const std::size_t> positions) {
    const auto of_channel = [&](std::int64_t i) { return x[(i / inner * channels + c) * inner + i % inner]; };
    const Statistics own = statistics(of_channel, 0, count);
    for (auto position : positions) {
      if (query.output > 0) {
        const double before = query.input(first_running + query.output - 1)[c], momentum = query.parameters.momentum;
        result[position] = before * momentum + (query.output == 1 ? own.mean : own.variance) * (1 - momentum);
        continue;
      }
      const double value = (x[query.indices[position]] - own.mean) / std::sqrt(own.variance + query.parameters.epsilon);
      result[position] = norm.affine ? value * query.input(1)[c] + query.input(2)[c] : value;
    }
  });
  return result;
}

}  // namespace benanza::reference
