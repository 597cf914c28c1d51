// SPDX-License-Identifier: Apache-2.0
// Attention. Query heads that share a key head are adjacent in memory, so they are rows of one problem; threads take
// blocks of rows.
#include "context.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::native {

namespace {

constexpr Index rows_of_task = 24;

/// Strides of a mask that broadcasts to batch heads queries keys.
struct MaskStrides {
  Index batch = 0, head = 0, query = 0, key = 0;
};
std::optional<MaskStrides> mask_strides(const op::Attention& op) {
  const TensorShape scores{op.q[0], op.q[1], op.q[2], op.k[2]};
  TensorShape strides = TensorShape::filled(4, 0);
  if (op.mask.size() > 4) return std::nullopt;
  Index stride = 1;
  for (std::size_t i = 0; i < op.mask.size(); ++i) {
    const std::size_t from = op.mask.size() - 1 - i, to = 3 - i;
    if (op.mask[from] != 1 && op.mask[from] != scores[to]) return std::nullopt;
    strides[to] = op.mask[from] == 1 && scores[to] != 1 ? 0 : stride;
    stride *= op.mask[from];
  }
  return MaskStrides{strides[0], strides[1], strides[2], strides[3]};
}

/// Strides of an operand in floats: between entries of the batch, between heads and between tokens.
struct HeadStrides {
  Index batch = 0, head = 0, token = 0;
};
HeadStrides head_strides(const TensorShape& shape, bool tokens_first) {
  const Index heads = shape[1], tokens = shape[2], depth = shape[3];
  return tokens_first ? HeadStrides{heads * tokens * depth, depth, heads * depth}
                      : HeadStrides{heads * tokens * depth, tokens * depth, depth};
}

}  // namespace

Result plans(const op::Attention& op, const Context& context) {
  const auto mask = mask_strides(op);
  if (op.type != DataType::f32 || !mask) return unsupported(op.kind, op.type);
  if (op.scores != op::Scores::none)
    return Unsupported{"no " + std::string(op.beyond_added_mask()) + " in backend native"};
  const Index kv_heads = op.k[1], group = op.q[1] / std::max<Index>(kv_heads, 1);
  if (kv_heads * group != op.q[1])
    return Unsupported{"the number of query heads is not a multiple of that of key heads"};
  const auto& kernels = context.kernels;
  const Index queries = op.q[2], keys = op.k[2], depth = op.q[3], value_depth = op.v[3];
  const HeadStrides q = head_strides(op.q, op.q_tokens_first), k = head_strides(op.k, op.k_tokens_first),
                    v = head_strides(op.v, op.v_tokens_first), y = head_strides(op.y(), op.y_tokens_first);
  const Index rows = group * queries, blocks = (rows + rows_of_task - 1) / rows_of_task,
              tasks = op.q[0] * kv_heads * blocks;
  const auto round = [](Index floats) { return (floats + 15) / 16 * 16; };
  const Index scratch = round(kernels.attention_scratch_floats(depth, value_depth)),
              packed = round(kernels.attention_packed_floats(keys, depth));

  const auto cap = op.capped ? static_cast<float>(context.numbers.attention_softcap) : 0.0F;
  const auto scale =
      static_cast<float>(context.numbers.attention_scale.value_or(1 / std::sqrt(static_cast<double>(depth))));

  const auto runner = [&](bool few_rows) {
    return [=, &kernels, pool = context.pool, threads = context.threads](const Arguments& arguments) {
      pool->parallel(threads, [&](int thread) {
        auto* workspace = static_cast<float*>(arguments.workspace) + thread * (scratch + (few_rows ? 0 : packed));
        const Range mine = share(tasks, threads, thread);
        Index in_pack = -1;
        for (Index task = mine.begin; task < mine.end; ++task) {
          const Index head = task / blocks, first = task % blocks * rows_of_task;  // head counts over all batches
          const Index batch = head / kv_heads, first_head = head % kv_heads * group;
          const Index kv_head = head % kv_heads;
          AttentionArguments a{.q = input<float>(arguments, 0) + batch * q.batch + first_head * q.head,
                               .k = input<float>(arguments, 1) + batch * k.batch + kv_head * k.head,
                               .v = input<float>(arguments, 2) + batch * v.batch + kv_head * v.head,
                               .y = output<float>(arguments) + batch * y.batch + first_head * y.head,
                               .rows = std::min(rows_of_task, rows - first),
                               .keys = keys,
                               .depth = depth,
                               .value_depth = value_depth,
                               .queries = queries,
                               .first_row = first,
                               .q_head_stride = q.head,
                               .q_query_stride = q.token,
                               .k_stride = k.token,
                               .v_stride = v.token,
                               .y_head_stride = y.head,
                               .y_query_stride = y.token,
                               .past = op.past,
                               .before = op.before,
                               .after = op.causal ? 0 : op.after,
                               .k_transposed = op.k_transposed,
                               .scale = scale,
                               .cap = cap,
                               .packed_k = workspace + scratch,
                               .scratch = workspace};
          if (!op.mask.empty()) {
            const Index of_head = batch * mask->batch + first_head * mask->head;
            if (op.mask_type) a.seen = input<std::uint8_t>(arguments, 3) + of_head;
            else a.mask = input<float>(arguments, 3) + of_head;
            a.mask_head_stride = mask->head;
            a.mask_query_stride = mask->query;
            a.mask_key_stride = mask->key;
          }
          if (few_rows) {
            kernels.attention_few_rows(a);
            continue;
          }
          if (in_pack != head) kernels.attention_pack(a);
          in_pack = head;
          kernels.attention(a);
        }
      });
    };
  };
  const auto threads = static_cast<std::size_t>(context.threads);
  Plans plans = one_plan(context, op.operands(), "attention:blocks", runner(false),
                         static_cast<std::size_t>(scratch + packed) * threads * sizeof(float));
  if (rows <= 16)
    add_plan(plans, context, op.operands(), "attention:rows", runner(true),
             static_cast<std::size_t>(scratch) * threads * sizeof(float));
  return plans;
}

}  // namespace benanza::native
