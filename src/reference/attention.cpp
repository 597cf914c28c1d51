// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"
#include "index.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace benanza::reference {

Elements compute(const op::Attention& attention, const Query& query) {
  const TensorShape stored_y = attention.operands().outputs[0].shape;
  const std::int64_t depth = attention.q[3], keys = attention.k[2], value_depth = attention.v[3];
  const std::int64_t heads_per_kv = attention.q[1] / attention.k[1];
  const double scale = query.parameters.attention_scale.value_or(1 / std::sqrt(static_cast<double>(depth)));
  const double softcap = query.parameters.attention_softcap;
  const ConstTensor &q = query.input(0), &k = query.input(1), &v = query.input(2);

  // Offset of a head's token, in elements.
  const auto begin = [](const TensorShape& shape, bool tokens_first, std::int64_t b, std::int64_t h, std::int64_t t) {
    return ((b * shape[tokens_first ? 2 : 1] + (tokens_first ? t : h)) * shape[tokens_first ? 1 : 2] +
            (tokens_first ? h : t)) *
           shape[3];
  };

  Elements result(query.size());
  std::vector<double> weights(static_cast<std::size_t>(keys));
  // One softmax for all wanted elements of a (batch, head, query) row.
  query.for_each_group([&](std::int64_t flat) { return flat / value_depth; },
                       [&](std::int64_t row, std::span<const std::size_t> positions) {
                         TensorShape at = coordinates(stored_y, row * value_depth);
                         if (attention.y_tokens_first) std::swap(at[1], at[2]);
                         const std::int64_t kv_head = at[1] / heads_per_kv;
                         const std::int64_t of_q = begin(attention.q, attention.q_tokens_first, at[0], at[1], at[2]);
                         double largest = -std::numeric_limits<double>::infinity();
                         for (std::int64_t j = 0; j < keys; ++j) {
                           const std::int64_t of_k =
                               attention.k_transposed ? (at[0] * attention.k[1] + kv_head) * keys * depth + j
                                                      : begin(attention.k, attention.k_tokens_first, at[0], kv_head, j);
                           double score = 0;
                           for (std::int64_t d = 0; d < depth; ++d)
                             score += q[of_q + d] * k[of_k + (attention.k_transposed ? d * keys : d)];
                           score *= scale;
                           if (softcap != 0) score = softcap * std::tanh(score / softcap);
                           if (!attention.mask.empty())
                             score += query.input(3)[broadcast_index(attention.mask, {at[0], at[1], at[2], j})];
                           if (attention.causal && j > at[2])
                             score =
                                 -std::numeric_limits<double>::infinity();  // aligned to the upper left, as ONNX has it
                           weights[static_cast<std::size_t>(j)] = score;
                           largest = std::max(largest, score);
                         }
                         double sum = 0;
                         for (double& weight : weights) sum += weight = std::exp(weight - largest);
                         for (auto position : positions) {
                           const std::int64_t column = query.indices[position] % value_depth;
                           double value = 0;
                           for (std::int64_t j = 0; j < keys; ++j)
                             value += weights[static_cast<std::size_t>(j)] *
                                      v[begin(attention.v, attention.v_tokens_first, at[0], kv_head, j) + column];
                           result[position] = value / sum;
                         }
                       });
  return result;
}

}  // namespace benanza::reference
