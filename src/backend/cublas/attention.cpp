// SPDX-License-Identifier: Apache-2.0
#include "attention.hpp"

#include "plans.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::cublas {

namespace {

/// The layout of the matrices of heads in an operand, in elements.
struct Heads {
  std::int64_t from_row_to_row = 1, from_head_to_head = 1;
};
Heads heads_of(std::int64_t heads, std::int64_t rows, std::int64_t columns, bool tokens_first) {
  if (tokens_first) return {heads * columns, columns};
  return {columns, rows * columns};
}

std::optional<Problem> product(const Arithmetic& arithmetic, std::int64_t batch, std::int64_t m, std::int64_t n,
                               std::int64_t k, const Heads& a, const Heads& b, const Heads& y, bool trans_b) {
  const auto rows = to_int(m), columns = to_int(n), inner = to_int(k), count = to_int(batch),
             lda = to_int(a.from_row_to_row), ldb = to_int(b.from_row_to_row), ldy = to_int(y.from_row_to_row);
  if (!rows || !columns || !inner || !count || !lda || !ldb || !ldy) return std::nullopt;
  return Problem{.arithmetic = arithmetic,
                 .m = *rows,
                 .n = *columns,
                 .k = *inner,
                 .lda = *lda,
                 .ldb = *ldb,
                 .ldy = *ldy,
                 .trans_b = trans_b,
                 .stride_a = a.from_head_to_head,
                 .stride_b = b.from_head_to_head,
                 .stride_y = y.from_head_to_head,
                 .batch = *count};
}

class AttentionPlan final : public Plan {
 public:
  AttentionPlan(const AttentionParts& parts, const Operands& operands, std::shared_ptr<const Handles> handles)
      : Plan({.algorithm = "gemm_softmax_gemm,threads=1",
              .inputs = plain_layouts(operands.inputs),
              .outputs = plain_layouts(operands.outputs),
              .workspace_bytes = cublas::workspace_bytes + parts.score_bytes,
              // Scores and weights are rounded in between.
              .tolerance = parts.result.arithmetic.tolerance * (bits(parts.type) == 32 ? 1 : 4)}),
        parts_(parts),
        handles_(std::move(handles)) {}

 private:
  void do_execute(const Arguments& arguments) const override {
    void* const scores = static_cast<std::byte*>(arguments.workspace) + cublas::workspace_bytes;
    const void* const mask = arguments.inputs.size() > 3 ? arguments.inputs[3] : nullptr;
    const cublasHandle_t handle = handles_->blas_with(arguments.workspace);
    gemm(parts_.scores, handle, arguments.inputs[0], arguments.inputs[1], scores);
    cuda::attention_weights(parts_.weights, parts_.type, mask, scores, handles_->stream());
    gemm(parts_.result, handle, scores, arguments.inputs[2], arguments.outputs[0]);
  }

  AttentionParts parts_;
  std::shared_ptr<const Handles> handles_;
};

}  // namespace

std::variant<AttentionParts, std::string> describe(const op::Attention& op) {
  const bool has_kernel =
      op.type == DataType::f32 || op.type == DataType::tf32 || op.type == DataType::f16 || op.type == DataType::bf16;
  if (!has_kernel) return "attention of this type is not done by products of cuBLAS";
  if (const auto more = op.beyond_added_mask(); !more.empty())
    return "no " + std::string(more) + " by products of cuBLAS";
  if (!op.starts_at_first_key()) return "attention in a window or behind a cache is not done by products of cuBLAS";
  const auto arithmetic = cublas::arithmetic(op.type, op.type);
  if (op.tokens_first() && (op.q[0] != 1 || op.q[1] != op.k[1]))
    return "heads that do not lie one behind the other are one strided batch only if there is one entry, and no two "
           "query heads share a key head";
  // Query heads that share a key head are adjacent in memory, so they are rows of one product.
  const std::int64_t batch = op.k[0] * op.k[1], rows = op.q[1] / op.k[1] * op.q[2], keys = op.k[2], depth = op.q[3];
  const Heads q = heads_of(batch, rows, depth, op.q_tokens_first),
              v = heads_of(batch, keys, op.v[3], op.v_tokens_first),
              y = heads_of(batch, rows, op.v[3], op.y_tokens_first), weights = heads_of(batch, rows, keys, false),
              k = op.k_transposed ? heads_of(batch, depth, keys, false)
                                  : heads_of(batch, keys, depth, op.k_tokens_first);
  auto scores = product(*arithmetic, batch, rows, keys, depth, q, k, weights, !op.k_transposed);
  auto result = product(*arithmetic, batch, rows, op.v[3], keys, weights, v, y, false);
  if (!scores || !result) return too_large;
  scores->factor = 1 / std::sqrt(static_cast<double>(depth));
  AttentionParts parts{
      .scores = *std::move(scores),
      .result = *std::move(result),
      .type = op.type,
      .weights = {.batch = op.q[0], .heads = op.q[1], .queries = op.q[2], .keys = keys, .causal = op.causal},
      .score_bytes = static_cast<std::size_t>(batch * rows * keys * bits(op.type) / 8)};
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, op.mask.size()); ++i) {
    const std::int64_t size = op.mask[op.mask.size() - 1 - i];
    parts.weights.mask_strides[3 - i] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return parts;
}

std::variant<Plans, Unsupported> attention_plans(const op::Attention& op, const Operands& operands,
                                                 const std::shared_ptr<const Handles>& handles) {
  const auto described = describe(op);
  if (const auto* why = std::get_if<std::string>(&described)) return Unsupported{*why};
  Plans plans;
  plans.push_back(std::make_unique<AttentionPlan>(std::get<AttentionParts>(described), operands, handles));
  return plans;
}

}  // namespace benanza::cublas
