// SPDX-License-Identifier: Apache-2.0
// Expressions: all steps for one element after the other. What has one element per row is computed once per row.
#include "evaluate.hpp"
#include "function.hpp"
#include "index.hpp"
#include <benanza/base/detail/small_float.hpp>

#include <algorithm>
#include <cmath>

namespace benanza::reference {

namespace {

class Evaluation {
 public:
  Evaluation(const op::Expression& op, const Query& query)
      : op_(op),
        query_(query),
        values_(op.values()),
        rows_(part(op.x, 0, static_cast<std::size_t>(op.rows))),
        row_(part(op.x, static_cast<std::size_t>(op.rows), op.x.size())),
        now_(values_.size()),
        wanted_(static_cast<std::size_t>(op.out[query.output])) {}

  /// The results of row `row` at these positions in it.
  void of_row(std::int64_t row, std::span<const std::int64_t> positions, std::span<double> results) {
    row_at_ = coordinates(rows_, row);
    for (std::size_t value = op_.in.size(); value <= wanted_; ++value)
      if (values_[value].by_row)
        now_[value] = step(value).kind == StepKind::reduction ? reduce(value) : apply_step(value);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      go_to(positions[i], wanted_);
      results[i] = now_[wanted_];
    }
  }

 private:
  [[nodiscard]] const ExpressionStep& step(std::size_t value) const { return op_.steps[value - op_.in.size()]; }

  /// Computes the values up to `last` for an element of the row.
  void go_to(std::int64_t position, std::size_t last) {
    TensorShape at = row_at_;
    for (const auto coordinate : coordinates(row_, position)) at.push_back(coordinate);
    for (std::size_t value = 0; value <= last; ++value) {
      if (value < op_.in.size()) {
        const ConstTensor& tensor = query_.input(value);
        now_[value] = tensor[broadcast_index(tensor.shape, at)];
      } else if (!values_[value].by_row) {
        now_[value] = apply_step(value);
      }
    }
  }

  [[nodiscard]] double apply_step(std::size_t value) {
    const ExpressionStep& step = this->step(value);
    if (values_[value].by_row) read_row_inputs(step);
    const double a = now_[step.of[0]], b = now_[step.of[1]], c = now_[step.of[2]];
    const DataType type = values_[step.of[0]].type;
    if (step.kind == StepKind::choice) return a != 0 ? b : c;
    if (step.kind == StepKind::conversion) {
      if (step.to == DataType::boolean) return a != 0 ? 1 : 0;
      if (is_float(step.to)) return round_to(step.to, a);
      return wrap(step.to, std::trunc(type == DataType::f64 ? a : static_cast<double>(static_cast<float>(a))));
    }
    return is_binary(step.fn) ? apply(step.fn, type, a, b) : apply(step.fn, type, a, step.alpha, step.beta);
  }
  /// Inputs with one element for each row.
  void read_row_inputs(const ExpressionStep& step) {
    TensorShape at = row_at_;
    while (at.size() < op_.x.size()) at.push_back(0);
    for (std::size_t i = 0; i < step.operands(); ++i)
      if (step.of[i] < op_.in.size()) {
        const ConstTensor& tensor = query_.input(step.of[i]);
        now_[step.of[i]] = tensor[broadcast_index(tensor.shape, at)];
      }
  }

  [[nodiscard]] double reduce(std::size_t value) {
    using enum op::ReduceFn;
    const ExpressionStep& step = this->step(value);
    const std::int64_t count = element_count(row_);
    double result = step.reduce == prod ? 1 : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      go_to(i, step.of[0]);
      const double x = now_[step.of[0]];
      switch (step.reduce) {
        case op::ReduceFn::max: result = i == 0 || x > result || std::isnan(x) ? x : result; break;
        case op::ReduceFn::min: result = i == 0 || x < result || std::isnan(x) ? x : result; break;
        case prod: result *= x; break;
        case l1: result += std::fabs(x); break;
        case sum_square: result += x * x; break;
        default: result += x;
      }
    }
    return step.reduce == mean ? result / static_cast<double>(count) : result;
  }

  const op::Expression& op_;
  const Query& query_;
  std::vector<op::Expression::Value> values_;
  TensorShape rows_, row_;
  TensorShape row_at_{};
  std::vector<double> now_;  ///< the value of each input and step
  std::size_t wanted_;
};

}  // namespace

Elements compute(const op::Expression& expression, const Query& query) {
  Evaluation evaluation(expression, query);
  const bool by_row = expression.values()[static_cast<std::size_t>(expression.out[query.output])].by_row;
  const std::int64_t length = element_count(expression.x) / element_count(expression.row_shape());
  Elements result(query.size());
  query.for_each_group([&](std::int64_t flat) { return by_row ? flat : flat / length; },
                       [&](std::int64_t row, std::span<const std::size_t> positions) {
                         std::vector<std::int64_t> within;
                         for (const auto at : positions) within.push_back(by_row ? 0 : query.indices[at] % length);
                         Elements values(within.size());
                         evaluation.of_row(row, within, values);
                         for (std::size_t i = 0; i < within.size(); ++i) result[positions[i]] = values[i];
                       });
  return result;
}

}  // namespace benanza::reference
