// SPDX-License-Identifier: Apache-2.0
// Batched matrix products, and products of two matrices that both vary. For each entry of the batch, the plan packs b
// into panels and runs the product with weights (product.cpp). Threads share the entries. If there are fewer entries
// than threads, all threads work on each entry.
#include "product_batched.hpp"

#include "plan/batch_offset.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace benanza::native {

namespace {

constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// to[j][i] = from[i][j], in blocks whose lines stay in the first-level cache.
void transpose(const float* from, float* to, Index rows, Index columns) {
  constexpr Index block = 16;
  for (Index row = 0; row < rows; row += block)
    for (Index column = 0; column < columns; ++column)
      for (Index i = row; i < std::min(row + block, rows); ++i) to[column * rows + i] = from[i * columns + column];
}

/// An operand of the epilogue, with at least two dimensions.
TensorShape matrices_of(const TensorShape& shape) {
  TensorShape result = TensorShape::filled(shape.size() < 2 ? 2 - shape.size() : 0, 1);
  for (const auto dim : shape) result.push_back(dim);
  return result;
}
Index last_two(const TensorShape& shape) { return shape[shape.size() - 2] * shape[shape.size() - 1]; }

class BatchedProductPlan final : public Plan {
 public:
  /// `each` multiplies one entry; `at_once`: threads share the entries, and `each` has one thread.
  BatchedProductPlan(const op::MatMul& op, std::unique_ptr<Plan> each, const Context& context, bool at_once)
      : Plan({.algorithm = "batched_" + each->algorithm().substr(0, each->algorithm().find(',')) +
                           ",threads=" + std::to_string(context.threads),
              .threads = context.threads,
              .inputs = plain_layouts(op.operands().inputs),
              .outputs = plain_layouts(op.operands().outputs),
              .workspace_bytes = static_cast<std::size_t>(at_once ? context.threads : 1) * part_bytes(op, *each)}),
        op_(op),
        each_(std::move(each)),
        at_once_(at_once),
        part_bytes_(part_bytes(op, *each_)),
        batch_(op.batch()),
        pool_(context.pool) {
    const Operands all = op.operands();
    for (std::size_t i = 2; i < all.inputs.size(); ++i) operands_.push_back(matrices_of(all.inputs[i].shape));
  }

 private:
  static std::size_t floats(Index count) { return rounded(static_cast<std::size_t>(count) * sizeof(float)); }
  static std::size_t part_bytes(const op::MatMul& op, const Plan& each) {
    return rounded(each.workspace_bytes()) + rounded(each.inputs()[1].bytes) +
           (op.trans_a ? floats(op.m() * op.k()) : 0) + (op.trans_b ? floats(op.k() * op.n()) : 0);
  }

  void do_execute(const Arguments& arguments) const override {
    auto* const workspace = static_cast<std::byte*>(arguments.workspace);
    const Index entries = element_count(batch_);
    if (!at_once_) return multiply({0, entries}, arguments, workspace);
    pool_->parallel(threads(), [&](int thread) {
      multiply(share(entries, threads(), thread), arguments,
               workspace + static_cast<std::size_t>(thread) * part_bytes_);
    });
  }

  void multiply(Range entries, const Arguments& arguments, std::byte* workspace) const {
    const Index m = op_.m(), n = op_.n(), k = op_.k();
    std::byte* const panels = workspace + rounded(each_->workspace_bytes());
    auto* const straight_a = reinterpret_cast<float*>(panels + rounded(each_->inputs()[1].bytes));
    auto* const straight_b = straight_a + (op_.trans_a ? floats(m * k) / sizeof(float) : 0);
    std::vector<const void*> in(arguments.inputs.begin(), arguments.inputs.end());
    in[1] = panels;
    Index packed = -1;  // the offset of the matrix in the panels
    for (Index entry = entries.begin; entry < entries.end; ++entry) {
      const float* a = input<float>(arguments, 0) + batch_offset(batch_, entry, op_.a, m * k);
      if (op_.trans_a) transpose(std::exchange(a, straight_a), straight_a, k, m);
      if (const Index at = batch_offset(batch_, entry, op_.b, k * n); at != packed) {
        const float* b = input<float>(arguments, 1) + at;
        if (op_.trans_b) transpose(std::exchange(b, straight_b), straight_b, n, k);
        each_->pack_input(1, b, panels);
        packed = at;
      }
      in[0] = a;
      for (std::size_t i = 0; i < operands_.size(); ++i)
        in[2 + i] = input<float>(arguments, 2 + i) + batch_offset(batch_, entry, operands_[i], last_two(operands_[i]));
      void* const y = output<float>(arguments) + entry * m * n;
      each_->execute({.inputs = in, .outputs = {&y, 1}, .workspace = workspace});
    }
  }

  op::MatMul op_;
  std::unique_ptr<Plan> each_;
  bool at_once_;
  std::size_t part_bytes_;
  TensorShape batch_;
  std::vector<TensorShape> operands_{};  // shapes of the epilogue's operands
  std::shared_ptr<const ThreadPool> pool_;
};

}  // namespace

Result batched_plans(const op::MatMul& op, const Context& context) {
  op::MatMul entry{.a = {op.m(), op.k()}, .b = {op.k(), op.n()}, .b_constant = true};
  for (PostOp step : op.post) {
    if (is_binary(step.fn) && !step.channel) {
      const TensorShape shape = matrices_of(step.shape.empty() ? op.y() : step.shape);
      step.shape = {shape[shape.size() - 2], shape[shape.size() - 1]};
    }
    entry.post.push_back(step);
  }
  const bool at_once = element_count(op.batch()) >= context.threads;
  Context of_entry = context;
  if (at_once) of_entry.threads = 1;
  auto plans = native::plans(entry, of_entry);
  if (const auto* unsupported = std::get_if<Unsupported>(&plans)) return *unsupported;
  Plans result;
  for (auto& each : std::get<Plans>(plans))
    if (each->algorithm().starts_with("product"))
      result.push_back(std::make_unique<BatchedProductPlan>(op, std::move(each), context, at_once));
  return result;
}

}  // namespace benanza::native
