// SPDX-License-Identifier: Apache-2.0
// A residual sum and its norm. A sum that ends a product's epilogue stays there: that saves a call, and moves no more
// bytes.
#pragma once

#include <benanza/fusion/detail/normalization.hpp>

namespace benanza::detail {

/// `at` is the sum of two tensors of the same shape. If the norm is not its only reader, it is an output of the group.
[[nodiscard]] inline std::optional<Match> match_residual_norm(const LayerGraph& graph, std::size_t at) {
  const Occurrence& sum = graph.layers[at];
  const auto* add = plain<op::Binary>(&sum);
  if (add == nullptr || add->fn != ElementwiseFn::add || add->same || add->a != add->b || sum.outputs.size() != 1)
    return std::nullopt;
  const LayerTensor& tensor = graph.tensors[sum.outputs[0]];
  for (const std::size_t reader : tensor.consumers) {
    const Occurrence& norm_at = graph.layers[reader];
    const auto* norm = std::get_if<op::LayerNorm>(&*norm_at.layer);
    const bool fits = norm != nullptr && norm->residual == op::Residual::none && norm->type == add->type &&
                      norm_at.inputs[0] == sum.outputs[0];
    if (!fits) continue;
    op::LayerNorm both = *norm;
    const bool is_kept = tensor.output || tensor.consumers.size() > 1;
    both.residual = is_kept ? op::Residual::kept : op::Residual::added;
    Match match{.members = {at, reader}, .pieces = {{0, 2, both}}};
    if (is_kept) match.kept = {at};
    return match;
  }
  return std::nullopt;
}

}  // namespace benanza::detail
