// SPDX-License-Identifier: Apache-2.0
// Matrix products: the matmul primitive with b in its own layout or plain, and the inner product if b is a matrix of
// weights. A b of u8 is shifted to s8: beforehand if it is constant, otherwise by a step of the call.
#include "families.hpp"
#include "fold.hpp"
#include "post_ops.hpp"
#include "quantization_scales.hpp"

namespace benanza::onednn {
namespace {

std::vector<Use> all_uses(const PostOps& post, const Desc& a, const Use& b, const Desc& y, bool has_bias) {
  std::vector<Use> uses{{DNNL_ARG_SRC, input(0), a}, b, {DNNL_ARG_DST, output(), y}};
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

void add_plans(const op::MatMul& op, Candidates& candidates) {
  const auto a_known = element_type(op.type), b_known = element_type(op.b_type.value_or(op.type)),
             y_known = element_type(op.y_type.value_or(op.type));
  if (!a_known || !b_known || !y_known) return;
  const bool shifts = QuantizationScales::shifts_weights(op);
  const Type a_type = *a_known, b_type = shifts ? Type::s8 : *b_known, y_type = *y_known;
  const TensorShape shape = op.y();
  const bool has_bias = starts_with_bias(op.post);
  auto operands = epilogue_dims(op.post, shape, shape.size() - 1);
  Dims a = padded_to(shape.size(), op.a), b = padded_to(shape.size(), op.b), y = dims(shape);
  std::vector<Dims*> together{&y, &a, &b};
  for (auto& operand : operands) together.push_back(&operand);
  fold_leading(together, 2);
  const Desc plain_a = op.trans_a ? transposed(a, a_type) : row_major(a, a_type),
             plain_b = op.trans_b ? transposed(b, b_type) : row_major(b, b_type), plain_y = row_major(y, y_type);
  const QuantizationScales scales(op, op.n(), op.b_constant ? 1 << (y.size() - 1) : 0, candidates.numbers());
  auto made = ways_of_epilogue(op.post, operands, y, Form::plain, y_type, candidates.operands(), scales.active());
  if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
  const auto& ways = std::get<std::vector<PostOps>>(made);
  const Type bias_type = scales.active() ? Type::f32 : y_type;
  Desc bias_desc;
  if (has_bias) bias_desc = row_major(operands[0], bias_type);
  const auto add = [&](const auto& descriptor, const std::string& name, const Desc& w, const PostOps& post_ops) {
    Draft draft{.algorithm = name, .tolerance = candidates.tolerance()};
    Use weights{DNNL_ARG_WEIGHTS, input(1), w};
    if (shifts && !op.b_constant)
      weights = {DNNL_ARG_WEIGHTS, QuantizationScales::shift_input(draft, candidates.engine(), 1, plain_b)};
    std::vector<Use> uses = all_uses(post_ops, plain_a, weights, plain_y, has_bias);
    scales.add(draft, uses);
    draft.step(descriptor, std::move(uses));
    if (post_ops.sums_into) draft.sum_into(*post_ops.sums_into);
    if (shifts && op.b_constant)
      QuantizationScales::shift_constant(draft, 1, w, descriptor.query_md(dnnl::query::exec_arg_md, DNNL_ARG_WEIGHTS));
    if (has_bias) scales.add_bias(draft, 2, op.n());
    candidates.add(std::move(draft));
  };
  for (const bool chosen : {true, false}) {
    if (chosen && !op.b_constant) continue;
    for (const PostOps& post_ops : ways) {
      auto attributes = post_ops.attributes();
      scales.set(attributes);
      dnnl::matmul::primitive_desc first(candidates.engine(), plain_a, chosen ? any(b, b_type) : plain_b, bias_desc,
                                         plain_y, attributes, true);
      for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
        add(descriptor, implementation, plain_b, post_ops);
      });
    }
  }

  if (!op.b_constant || op.trans_a || y.size() != 2) return;
  const Dims w{b[1], b[0]};
  const Desc plain_w = transposed(w, b_type);
  // Row i of w is column i of b, so w has one scale for each row.
  const QuantizationScales by_row(op, op.n(), 1, candidates.numbers());
  for (const bool chosen : {true, false}) {
    for (const PostOps& post_ops : ways) {
      auto attributes = post_ops.attributes();
      by_row.set(attributes);
      dnnl::inner_product_forward::primitive_desc first(
          candidates.engine(), dnnl::prop_kind::forward_inference, plain_a, chosen ? any(w, b_type) : plain_w,
          has_bias ? row_major({y[1]}, bias_type) : Desc(), plain_y, attributes, true);
      for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
        add(descriptor, "inner_product:" + implementation, plain_w, post_ops);
      });
    }
  }
}

}  // namespace benanza::onednn
