// SPDX-License-Identifier: Apache-2.0
// ComposedAttention: attention as a library of matrix products sees it: scores = q k' * scale + mask, a softmax over
// the last dimension, y = scores v. oneDNN's plans and stand-alone suites state the same problem, in these dimensions.
#pragma once

#include <benanza/base/detail/fold_leading.hpp>
#include <benanza/op/attention.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace benanza::detail {

/// A tensor of a product: batch, heads of keys, query heads per head of keys, rows, columns, except for dimensions that
/// were folded. Strides are in elements; strides of dimensions of 1 do not count.
struct ProductOperand {
  std::vector<std::int64_t> dims{}, strides{};
};

/// For a number of query heads that is a multiple of the number of key heads.
struct ComposedAttention {
  ProductOperand q{}, k{}, v{}, y{};  ///< rows of k are its depth, its columns are the keys
  /// Row-major. `mask` and `bounds` are added to the scores and broadcast; they are empty if the layer has none. With
  /// bounds, a query does not see all keys: it sees the keys from `from` + its number on, up to but excluding `to` +
  /// its number.
  std::vector<std::int64_t> scores{}, mask{}, bounds{};
  std::int64_t from = 0, to = 0;

  [[nodiscard]] static ComposedAttention of(const op::Attention& op) {
    const std::int64_t batch = op.q[0], heads = op.q[1], kv_heads = op.k[1], queries = op.q[2], keys = op.k[2],
                       depth = op.q[3], width = op.v[3];
    // Query heads that share keys and values become more rows of one product if the mask and the memory allow it,
    // otherwise a dimension over which k and v broadcast.
    const std::int64_t mask_heads = op.mask.size() < 3 ? 1 : op.mask[op.mask.size() - 3];
    const bool is_bounded = op.causal || op.before >= 0 || op.after >= 0;
    const bool as_rows = !is_bounded && !op.q_tokens_first && !op.y_tokens_first &&
                         (op.mask.empty() || (queries == 1 && mask_heads == 1));
    const std::int64_t shared = heads / kv_heads, repeats = as_rows ? 1 : shared, rows = queries * (shared / repeats);
    ComposedAttention made{.q = {.dims = {batch, kv_heads, repeats, rows, depth}},
                           .k = {.dims = {batch, kv_heads, 1, depth, keys}},
                           .v = {.dims = {batch, kv_heads, 1, keys, width}},
                           .y = {.dims = {batch, kv_heads, repeats, rows, width}},
                           .scores = {batch, kv_heads, repeats, rows, keys}};
    std::vector<std::vector<std::int64_t>*> together{&made.scores, &made.q.dims, &made.k.dims, &made.v.dims,
                                                     &made.y.dims};
    if (!op.mask.empty()) {
      made.mask.assign(4 - op.mask.size(), 1);
      made.mask.insert(made.mask.end(), op.mask.begin(), op.mask.end());
      const std::int64_t groups = mask_heads == 1 ? 1 : kv_heads;
      made.mask = {made.mask[0], groups, mask_heads / groups, made.mask[2], made.mask[3]};
      together.push_back(&made.mask);
    }
    if (op.tokens_first()) {
      // Four dimensions, as expected by kernels that read heads side by side; none is folded into another.
      const auto strides = [&](bool tokens_first, std::int64_t operand_heads, std::int64_t tokens, std::int64_t columns,
                               std::int64_t repeated) -> std::vector<std::int64_t> {
        const std::int64_t head = tokens_first ? columns : tokens * columns;
        return {operand_heads * tokens * columns, head * repeated, head,
                tokens_first ? operand_heads * columns : columns, 1};
      };
      made.q.strides = strides(op.q_tokens_first, heads, queries, depth, repeats);
      made.k.strides = strides(op.k_tokens_first, kv_heads, keys, depth, 1);
      made.v.strides = strides(op.v_tokens_first, kv_heads, keys, width, 1);
      made.y.strides = strides(op.y_tokens_first, heads, queries, width, repeats);
      std::swap(made.k.strides[3], made.k.strides[4]);
      if (op.k_transposed) made.k.strides = {kv_heads * depth * keys, depth * keys, depth * keys, keys, 1};
      for (auto* operand : {&made.q, &made.k, &made.v, &made.y}) together.push_back(&operand->strides);
      const std::ptrdiff_t dropped = repeats == 1 ? 2 : batch == 1 ? 0 : -1;
      for (auto* list : together)
        if (dropped >= 0) list->erase(list->begin() + dropped);
    } else {
      fold_leading(together, 2);
      for (auto* operand : {&made.q, &made.k, &made.v, &made.y}) operand->strides = row_major(operand->dims);
      if (!op.k_transposed) {
        auto last = made.k.strides.end();
        *--last = depth;
        *--last = 1;
      }
    }
    if (is_bounded) {
      made.bounds.assign(made.scores.size(), 1);
      made.bounds.end()[-2] = queries;
      made.bounds.back() = keys;
      const std::int64_t reach = op.causal ? 0 : op.after;
      made.from = op.before < 0 ? -queries : op.past - op.before;
      made.to = reach < 0 ? keys : op.past + reach + 1;
    }
    return made;
  }

 private:
  static std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& dims) {
    std::vector<std::int64_t> strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    return strides;
  }
};

}  // namespace benanza::detail
