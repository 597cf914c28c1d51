// SPDX-License-Identifier: Apache-2.0
// Matrix products: the matmul primitive with b in its own layout or plain, and the inner product where b is a matrix of
// weights.
#include "families.hpp"
#include "fold.hpp"
#include "post_ops.hpp"

namespace benanza::onednn {
namespace {

std::vector<Use> all_uses(const PostOps& post, const Desc& a, const Desc& b, const Desc& y, bool has_bias) {
  std::vector<Use> uses{{DNNL_ARG_SRC, input(0), a}, {DNNL_ARG_WEIGHTS, input(1), b}, {DNNL_ARG_DST, output(), y}};
  if (has_bias) uses.push_back({DNNL_ARG_BIAS, input(2)});
  uses.insert(uses.end(), post.uses.begin(), post.uses.end());
  return uses;
}

Dims padded_to(std::size_t rank, const TensorShape& shape) {
  Dims result(rank - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

}  // namespace

void add_plans(const op::MatMul& op, Rivals& rivals) {
  if (op.b_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    return rivals.refuse("backend onednn runs f32 only so far, not a quantised matrix product");
  const TensorShape shape = op.y();
  const bool has_bias = starts_with_bias(op.post);
  auto operands = epilogue_dims(op.post, shape, shape.size() - 1);
  Dims a = padded_to(shape.size(), op.a), b = padded_to(shape.size(), op.b), y = dims(shape);
  std::vector<Dims*> together{&y, &a, &b};
  for (auto& operand : operands) together.push_back(&operand);
  fold_leading(together, 2);
  const Desc plain_a = op.trans_a ? transposed(a) : row_major(a), plain_b = op.trans_b ? transposed(b) : row_major(b),
             plain_y = row_major(y);
  auto made = make_post_ops(op.post, has_bias ? 1 : 0, operands, 2, y, Form::plain);
  if (const auto* refused = std::get_if<Unsupported>(&made)) return rivals.refuse(refused->reason);
  const auto& post_ops = std::get<PostOps>(made);

  Desc bias_desc;
  if (has_bias) bias_desc = row_major(operands[0]);
  for (const bool chosen : {true, false}) {
    if (chosen && !op.b_constant) continue;
    dnnl::matmul::primitive_desc first(rivals.engine(), plain_a, chosen ? any(b) : plain_b, bias_desc, plain_y,
                                       post_ops.attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation};
      draft.step(descriptor, all_uses(post_ops, plain_a, plain_b, plain_y, has_bias));
      rivals.add(std::move(draft));
    });
  }

  if (!op.b_constant || op.trans_a || y.size() != 2) return;
  const Dims w{b[1], b[0]};
  const Desc plain_w = transposed(w);
  for (const bool chosen : {true, false}) {
    dnnl::inner_product_forward::primitive_desc first(rivals.engine(), dnnl::prop_kind::forward_inference, plain_a,
                                                      chosen ? any(w) : plain_w, has_bias ? row_major({y[1]}) : Desc(),
                                                      plain_y, post_ops.attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = "inner_product:" + implementation};
      draft.step(descriptor, all_uses(post_ops, plain_a, plain_w, plain_y, has_bias));
      rivals.add(std::move(draft));
    });
  }
}

}  // namespace benanza::onednn
