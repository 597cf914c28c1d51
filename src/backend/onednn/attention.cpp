// SPDX-License-Identifier: Apache-2.0
// Attention, composed: scores = q k' * scale + mask in the workspace, softmax in place, y = scores v.
#include "families.hpp"
#include "post_ops.hpp"
#include <benanza/model/composed_attention.hpp>
#include <benanza/plan/element.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace benanza::onednn {
namespace {

/// -inf where a query does not see a key.
std::vector<std::byte> bounds_mask(const op::Attention& op) {
  const std::int64_t queries = op.q[2], keys = op.k[2];
  std::vector<std::byte> mask(static_cast<std::size_t>(queries * keys * bits(op.type) / 8));
  for (std::int64_t q = 0; q < queries; ++q)
    for (std::int64_t k = 0; k < keys; ++k)
      store(mask.data(), op.type, q * keys + k,
            k < op.first_key(q) || k >= op.last_key(q) ? -std::numeric_limits<double>::infinity() : 0.0);
  return mask;
}

}  // namespace

void add_plans(const op::Attention& op, Candidates& candidates) {
  if (const auto more = op.beyond_added_mask(); !more.empty()) return candidates.refuse(std::string(more));
  const std::int64_t heads = op.q[1], kv_heads = op.k[1];
  const Type type = *element_type(op.type);
  if (heads % kv_heads != 0)
    return candidates.refuse("attention with " + std::to_string(heads) + " heads over " + std::to_string(kv_heads));
  const auto scale =
      static_cast<float>(candidates.numbers().attention_scale.value_or(1 / std::sqrt(static_cast<double>(op.q[3]))));
  const auto composed = detail::ComposedAttention::of(op);
  const auto described = [&](const detail::ProductOperand& operand) {
    return strided(operand.dims, operand.strides, type);
  };

  // The additions to the scores: post-ops of the product if it supports them, otherwise in-place steps.
  std::vector<std::pair<Slot, Dims>> added;
  if (!composed.mask.empty()) added.emplace_back(input(3), composed.mask);
  Draft base;
  if (!composed.bounds.empty()) added.emplace_back(base.hold(bounds_mask(op)), composed.bounds);
  const Dims& scores = composed.scores;
  const Desc plain_scores = row_major(scores, type);
  const Slot intermediate = base.reserve(plain_scores.get_size());
  const dnnl::softmax_forward::primitive_desc softmax(candidates.engine(), dnnl::prop_kind::forward_inference,
                                                      dnnl::algorithm::softmax_accurate, plain_scores, plain_scores,
                                                      static_cast<int>(scores.size()) - 1, common_attributes(), true);
  const dnnl::matmul::primitive_desc second(candidates.engine(), plain_scores, described(composed.v),
                                            described(composed.y), common_attributes(), true);
  if (!softmax || !second || is_reference(softmax.impl_info_str()) || is_reference(second.impl_info_str())) return;

  for (const bool fused : {true, false}) {
    if (!fused && added.empty()) continue;
    PostOps post;
    post.type = type;
    post.ops.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
    std::vector<dnnl::binary::primitive_desc> additions;
    for (const auto& [slot, operand] : added) {
      if (fused) post.append(ElementwiseFn::add, false, slot, operand, scores, Form::plain);
      else
        additions.emplace_back(candidates.engine(), dnnl::algorithm::binary_add, plain_scores, row_major(operand, type),
                               plain_scores, common_attributes(), true);
    }
    for (auto& use : post.uses) use.plain.reset();  // all of them are row-major
    if (std::any_of(additions.begin(), additions.end(),
                    [](const auto& step) { return !step || is_reference(step.impl_info_str()); }))
      return;
    const dnnl::matmul::primitive_desc first(candidates.engine(), described(composed.q), described(composed.k),
                                             plain_scores, post.attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft = base;
      if (type != Type::f32) draft.tolerance = 4 * candidates.tolerance();  // scores and weights are rounded in between
      draft.algorithm = implementation + (additions.empty() ? "" : ":binary") + ":softmax:" + second.impl_info_str();
      std::vector<Use> uses{{DNNL_ARG_SRC, input(0)}, {DNNL_ARG_WEIGHTS, input(1)}, {DNNL_ARG_DST, intermediate}};
      uses.insert(uses.end(), post.uses.begin(), post.uses.end());
      draft.step(descriptor, std::move(uses));
      for (std::size_t i = 0; i < additions.size(); ++i)
        draft.step(additions[i],
                   {{DNNL_ARG_SRC_0, intermediate}, {DNNL_ARG_SRC_1, added[i].first}, {DNNL_ARG_DST, intermediate}});
      draft.step(softmax, {{DNNL_ARG_SRC, intermediate}, {DNNL_ARG_DST, intermediate}});
      draft.step(second, {{DNNL_ARG_SRC, intermediate}, {DNNL_ARG_WEIGHTS, input(2)}, {DNNL_ARG_DST, output()}});
      candidates.add(std::move(draft));
    });
  }
}

}  // namespace benanza::onednn
