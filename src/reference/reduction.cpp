// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "function.hpp"
#include "index.hpp"

#include <cmath>
#include <limits>

namespace benanza::reference {

namespace {

/// The reduction of the elements seen so far.
class Accumulator {
 public:
  Accumulator(const op::Reduce& reduce, bool select_last) : reduce_(reduce), select_last_(select_last) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    using enum op::ReduceFn;
    const op::ReduceFn fn = reduce.fn;
    if (fn == max || fn == arg_max || fn == log_sum_exp)
      value_ = is_float(reduce.type) ? -infinity : integer_range(reduce.type).least;
    if (fn == min || fn == arg_min) value_ = is_float(reduce.type) ? infinity : integer_range(reduce.type).largest;
    if (fn == prod) value_ = 1;
  }

  void add(double x) {
    using enum op::ReduceFn;
    switch (reduce_.fn) {
      case mean:
      case sum:
      case log_sum: value_ += x; break;
      case max: value_ = apply(ElementwiseFn::max, reduce_.type, value_, x); break;
      case min: value_ = apply(ElementwiseFn::min, reduce_.type, value_, x); break;
      case prod: value_ *= x; break;
      case l1: value_ += std::fabs(x); break;
      case l2:
      case sum_square: value_ += x * x; break;
      case log_sum_exp: add_exponential(x); break;
      case arg_max: choose(x, x > value_); break;
      case arg_min: choose(x, x < value_); break;
    }
    ++count_;
  }

  [[nodiscard]] double result() const {
    using enum op::ReduceFn;
    const double value = raw_result();
    const bool is_index = reduce_.fn == arg_max || reduce_.fn == arg_min;
    return is_float(reduce_.type) || is_index ? value : wrap(reduce_.type, std::trunc(value));
  }

 private:
  [[nodiscard]] double raw_result() const {
    using enum op::ReduceFn;
    switch (reduce_.fn) {
      case mean: return value_ / static_cast<double>(count_);
      case l2: return std::sqrt(value_);
      case log_sum: return std::log(value_);
      case log_sum_exp: return count_ == 0 ? -std::numeric_limits<double>::infinity() : value_ + std::log(scaled_sum_);
      case arg_max:
      case arg_min: return static_cast<double>(chosen_);
      default: return value_;
    }
  }

  /// Keeps the sum relative to the largest element to avoid overflow.
  void add_exponential(double x) {
    if (x <= value_) {
      scaled_sum_ += value_ == x ? 1 : std::exp(x - value_);
    } else {
      scaled_sum_ = scaled_sum_ == 0 ? 1 : scaled_sum_ * std::exp(value_ - x) + 1;
      value_ = x;
    }
  }
  void choose(double x, bool better) {
    if (!better && !(x == value_ && (select_last_ || count_ == 0))) return;
    value_ = x;
    chosen_ = count_;
  }

  const op::Reduce& reduce_;
  bool select_last_;
  double value_ = 0;
  double scaled_sum_ = 0;
  std::int64_t count_ = 0, chosen_ = 0;
};

}  // namespace

Elements compute(const op::Reduce& reduce, const Query& query) {
  TensorShape reduced, reduced_strides, kept_strides;
  const TensorShape step = strides(reduce.x), y = reduce.y();
  for (std::size_t i = 0; i < reduce.x.size(); ++i) {
    if (std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<std::int64_t>(i)) == reduce.axes.end()) {
      kept_strides.push_back(step[i]);
    } else {
      reduced.push_back(reduce.x[i]);
      reduced_strides.push_back(step[i]);
    }
  }
  const auto offset = [](const TensorShape& at, const TensorShape& distances) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += at[i] * distances[i];
    return sum;
  };
  return query.map([&](std::int64_t flat) {
    const std::int64_t base = offset(coordinates(y, flat), kept_strides);
    Accumulator accumulator(reduce, query.parameters.select_last_index);
    TensorShape at = TensorShape::filled(reduced.size(), 0);
    if (element_count(reduced) > 0) {
      do accumulator.add(query.input(0)[base + offset(at, reduced_strides)]);
      while (advance(reduced, at));
    }
    return accumulator.result();
  });
}

Elements compute(const op::TopK& top_k, const Query& query) {
  const std::int64_t length = top_k.x[1], inner = top_k.x[2];
  const ConstTensor& x = query.input(0);
  Elements result(query.size());
  std::vector<std::pair<double, std::int64_t>> row(static_cast<std::size_t>(length));
  const auto row_of = [&](std::int64_t flat) { return flat / (top_k.k * inner) * inner + flat % inner; };
  query.for_each_group(row_of, [&](std::int64_t which, std::span<const std::size_t> positions) {
    const std::int64_t begin = which / inner * length * inner + which % inner;
    for (std::int64_t i = 0; i < length; ++i) row[static_cast<std::size_t>(i)] = {x[begin + i * inner], i};
    // If values are equal, the one with the lower index comes first (ONNX TopK). NaN is greater than all numbers.
    std::partial_sort(row.begin(), row.begin() + top_k.k, row.end(), [&](const auto& a, const auto& b) {
      const bool a_is_nan = std::isnan(a.first), b_is_nan = std::isnan(b.first);
      if (a_is_nan != b_is_nan) return top_k.largest == a_is_nan;
      if (!a_is_nan && a.first != b.first) return top_k.largest ? a.first > b.first : a.first < b.first;
      return a.second < b.second;
    });
    for (auto position : positions) {
      const auto& [value, index] = row[static_cast<std::size_t>(query.indices[position] / inner % top_k.k)];
      result[position] = query.output == 1 ? static_cast<double>(index) : value;
    }
  });
  return result;
}

Elements compute(const op::Cumulative& cumulative, const Query& query) {
  const std::int64_t length = cumulative.x[1], inner = cumulative.x[2];
  const ConstTensor& x = query.input(0);
  const ElementwiseFn fn = cumulative.product ? ElementwiseFn::mul : ElementwiseFn::add;
  Elements result(query.size()), row(static_cast<std::size_t>(length));
  const auto row_of = [&](std::int64_t flat) { return flat / (length * inner) * inner + flat % inner; };
  query.for_each_group(row_of, [&](std::int64_t which, std::span<const std::size_t> positions) {
    const std::int64_t begin = which / inner * length * inner + which % inner;
    double value = cumulative.product ? 1 : 0;
    for (std::int64_t step = 0; step < length; ++step) {
      const std::int64_t i = cumulative.reverse ? length - 1 - step : step;
      const double before = value;
      value = apply(fn, cumulative.type, value, x[begin + i * inner]);
      row[static_cast<std::size_t>(i)] = cumulative.exclusive ? before : value;
    }
    for (auto position : positions)
      result[position] = row[static_cast<std::size_t>(query.indices[position] / inner % length)];
  });
  return result;
}

}  // namespace benanza::reference
