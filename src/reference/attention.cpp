// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace benanza::reference {

namespace {

/// Offset of a token of a head, in elements.
std::int64_t offset(const TensorShape& shape, bool tokens_first, std::int64_t b, std::int64_t h, std::int64_t t) {
  return ((b * shape[tokens_first ? 2 : 1] + (tokens_first ? t : h)) * shape[tokens_first ? 1 : 2] +
          (tokens_first ? h : t)) *
         shape[3];
}

constexpr double unseen = -std::numeric_limits<double>::infinity();

/// One (batch, head, query): its scores up to a stage, and its results.
class Row {
 public:
  Row(const op::Attention& op, const Query& query, std::int64_t b, std::int64_t head, std::int64_t i)
      : op_(op), query_(query), b_(b), head_(head), kv_head_(head / (op.q[1] / op.k[1])), i_(i) {}

  [[nodiscard]] std::vector<double> scores(op::Scores stage) const {
    std::vector<double> result(static_cast<std::size_t>(op_.k[2]));
    for (std::int64_t j = 0; j < op_.k[2]; ++j) result[static_cast<std::size_t>(j)] = score(j, stage);
    if (stage == op::Scores::weights) soften(result);
    return result;
  }

  [[nodiscard]] double value(const std::vector<double>& weights, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t j = 0; j < op_.k[2]; ++j)
      if (const double weight = weights[static_cast<std::size_t>(j)]; weight != 0)
        sum += weight * query_.input(2)[offset(op_.v, op_.v_tokens_first, b_, kv_head_, j) + column];
    return sum;
  }

 private:
  [[nodiscard]] double score(std::int64_t j, op::Scores stage) const {
    const std::int64_t depth = op_.q[3], keys = op_.k[2];
    const std::int64_t of_q = offset(op_.q, op_.q_tokens_first, b_, head_, i_);
    const std::int64_t of_k = op_.k_transposed ? (b_ * op_.k[1] + kv_head_) * keys * depth + j
                                               : offset(op_.k, op_.k_tokens_first, b_, kv_head_, j);
    double score = 0;
    for (std::int64_t d = 0; d < depth; ++d)
      score += query_.input(0)[of_q + d] * query_.input(1)[of_k + (op_.k_transposed ? d * keys : d)];
    score *= query_.parameters.attention_scale.value_or(1 / std::sqrt(static_cast<double>(depth)));
    if (stage == op::Scores::raw) return score;
    const double cap = query_.parameters.attention_softcap;
    if (op_.capped) score = cap * std::tanh(score / cap);
    if (stage == op::Scores::capped) return score;
    if (j < op_.first_key(i_) || j >= op_.last_key(i_)) return unseen;
    if (op_.mask.empty()) return score;
    const double mask = query_.input(3)[broadcast_index(op_.mask, {b_, head_, i_, j})];
    return !op_.mask_type ? score + mask : mask != 0 ? score : unseen;
  }

  /// A query for which all keys are masked has weights of 0.
  static void soften(std::vector<double>& scores) {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = largest == unseen ? 0 : std::exp(score - largest);
    if (sum != 0)
      for (double& score : scores) score /= sum;
  }

  const op::Attention& op_;
  const Query& query_;
  std::int64_t b_, head_, kv_head_, i_;
};

}  // namespace

Elements compute(const op::Attention& attention, const Query& query) {
  const bool wants_scores = query.output == 1;
  const TensorShape shape = attention.operands().outputs[query.output].shape;
  Elements result(query.size());
  // One softmax for all requested elements of a row.
  query.for_each_group([&](std::int64_t flat) { return flat / shape[3]; },
                       [&](std::int64_t flat_row, std::span<const std::size_t> positions) {
                         TensorShape at = coordinates(shape, flat_row * shape[3]);
                         if (attention.y_tokens_first && !wants_scores) std::swap(at[1], at[2]);
                         const Row row(attention, query, at[0], at[1], at[2]);
                         const auto scores = row.scores(wants_scores ? attention.scores : op::Scores::weights);
                         for (auto position : positions) {
                           const std::int64_t column = query.indices[position] % shape[3];
                           result[position] =
                               wants_scores ? scores[static_cast<std::size_t>(column)] : row.value(scores, column);
                         }
                       });
  return result;
}

}  // namespace benanza::reference
