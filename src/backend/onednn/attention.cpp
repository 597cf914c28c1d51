// SPDX-License-Identifier: Apache-2.0
// Attention, composed: scores = q k' * scale + mask in the workspace, softmax in place, y = scores v.
#include "families.hpp"
#include "fold.hpp"
#include "post_ops.hpp"
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
  if (op.tokens_first()) return candidates.refuse("attention on heads that do not lie one behind the other");
  const std::int64_t heads = op.q[1], kv_heads = op.k[1], queries = op.q[2], keys = op.k[2], depth = op.q[3];
  const Type type = *element_type(op.type);
  if (heads % kv_heads != 0)
    return candidates.refuse("attention with " + std::to_string(heads) + " heads over " + std::to_string(kv_heads));
  const auto scale =
      static_cast<float>(candidates.numbers().attention_scale.value_or(1 / std::sqrt(static_cast<double>(depth))));
  // Query heads that share keys and values: more rows of one product where the mask allows it, otherwise a dimension
  // over which k and v broadcast.
  const std::int64_t mask_heads = op.mask.size() < 3 ? 1 : op.mask[op.mask.size() - 3];
  const bool is_bounded = op.causal || op.before >= 0 || op.after >= 0;
  const bool as_rows = !is_bounded && (op.mask.empty() || (queries == 1 && mask_heads == 1));
  const std::int64_t repeats = as_rows ? 1 : heads / kv_heads, rows = queries * (heads / kv_heads / repeats);
  Dims q{op.q[0], kv_heads, repeats, rows, depth}, y{op.q[0], kv_heads, repeats, rows, op.v[3]};
  Dims k{op.k[0], kv_heads, 1, depth, keys}, v{op.v[0], kv_heads, 1, keys, op.v[3]},
      scores{op.q[0], kv_heads, repeats, rows, keys}, mask;
  std::vector<Dims*> together{&scores, &q, &k, &v, &y};
  if (!op.mask.empty()) {
    mask.assign(4 - op.mask.size(), 1);
    mask.insert(mask.end(), op.mask.begin(), op.mask.end());
    const std::int64_t groups = mask_heads == 1 ? 1 : kv_heads;
    mask = {mask[0], groups, mask_heads / groups, mask[2], mask[3]};
    together.push_back(&mask);
  }
  fold_leading(together, 2);

  // What is added to the scores: post-ops of the product where it takes them, otherwise steps in place.
  std::vector<std::pair<Slot, Dims>> added;
  if (!mask.empty()) added.emplace_back(input(3), mask);
  Draft base;
  if (is_bounded) {
    Dims bounds(scores.size(), 1);
    bounds[bounds.size() - 2] = queries;
    bounds.back() = keys;
    added.emplace_back(base.hold(bounds_mask(op)), bounds);
  }
  const Desc plain_scores = row_major(scores, type),
             plain_k = op.k_transposed ? row_major(k, type) : transposed(k, type);
  const Slot intermediate = base.reserve(plain_scores.get_size());
  const dnnl::softmax_forward::primitive_desc softmax(candidates.engine(), dnnl::prop_kind::forward_inference,
                                                      dnnl::algorithm::softmax_accurate, plain_scores, plain_scores,
                                                      static_cast<int>(scores.size()) - 1, common_attributes(), true);
  const dnnl::matmul::primitive_desc second(candidates.engine(), plain_scores, row_major(v, type), row_major(y, type),
                                            common_attributes(), true);
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
    const dnnl::matmul::primitive_desc first(candidates.engine(), row_major(q, type), plain_k, plain_scores,
                                             post.attributes(), true);
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
