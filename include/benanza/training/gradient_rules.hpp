// SPDX-License-Identifier: Apache-2.0
// The rule that differentiates a node, and the inputs that have a gradient.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/operators/lookup.hpp>
#include <benanza/training/detail/gradients/attention.hpp>
#include <benanza/training/detail/gradients/convolution.hpp>
#include <benanza/training/detail/gradients/elementwise.hpp>
#include <benanza/training/detail/gradients/indexing.hpp>
#include <benanza/training/detail/gradients/loss.hpp>
#include <benanza/training/detail/gradients/movement.hpp>
#include <benanza/training/detail/gradients/movement_copies.hpp>
#include <benanza/training/detail/gradients/normalization.hpp>
#include <benanza/training/detail/gradients/pooling.hpp>
#include <benanza/training/detail/gradients/product.hpp>
#include <benanza/training/detail/gradients/product_einsum.hpp>
#include <benanza/training/detail/gradients/recurrent.hpp>
#include <benanza/training/detail/gradients/reduction.hpp>
#include <benanza/training/detail/gradients/sampling.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::training {

using GradientRule = void (*)(const Node&, GradientBuilder&);

/// Null if the operator has no rule.
[[nodiscard]] inline GradientRule find_gradient(const Node& node) {
  if (!node.bodies.empty()) return nullptr;
  switch (facts_of(node).gradient) {
    case Gradient::unknown: return nullptr;
    case Gradient::conv: return conv_gradient;
    case Gradient::conv_transpose: return conv_transpose_gradient;
    case Gradient::mat_mul: return mat_mul_gradient;
    case Gradient::gemm: return gemm_gradient;
    case Gradient::einsum: return einsum_gradient;
    case Gradient::pool: return pool_gradient;
    case Gradient::batch_norm: return batch_norm_gradient;
    case Gradient::mean_variance: return mean_variance_gradient;
    case Gradient::lp_norm: return lp_norm_gradient;
    case Gradient::lrn: return lrn_gradient;
    case Gradient::identity: return identity_gradient;
    case Gradient::dropout: return dropout_gradient;
    case Gradient::sub: return sub_gradient;
    case Gradient::mul: return mul_gradient;
    case Gradient::div: return div_gradient;
    case Gradient::swiglu: return swiglu_gradient;
    case Gradient::mod: return mod_gradient;
    case Gradient::pow: return pow_gradient;
    case Gradient::prelu: return prelu_gradient;
    case Gradient::where: return where_gradient;
    case Gradient::mean: return mean_gradient;
    case Gradient::transpose: return transpose_gradient;
    case Gradient::blocks: return blocks_gradient;
    case Gradient::concat: return concat_gradient;
    case Gradient::split: return split_gradient;
    case Gradient::slice: return slice_gradient;
    case Gradient::pad: return pad_gradient;
    case Gradient::center: return center_gradient;
    case Gradient::trilu: return trilu_gradient;
    case Gradient::expand: return expand_gradient;
    case Gradient::tile: return tile_gradient;
    case Gradient::top_k: return top_k_gradient;
    case Gradient::cumulative_sum: return cumulative_sum_gradient;
    case Gradient::cumulative_product: return cumulative_product_gradient;
    case Gradient::cast: return cast_gradient;
    case Gradient::rotary: return rotary_gradient;
    case Gradient::grid_sample: return grid_sample_gradient;
    case Gradient::roi_align: return roi_align_gradient;
    case Gradient::reshape: return reshape_gradient;
    case Gradient::lp_pool: return lp_pool_gradient;
    case Gradient::angle: return angle_gradient;
    case Gradient::resize: return resize_gradient;
    case Gradient::recurrent: return recurrent_gradient;
    case Gradient::row_norm: return row_norm_gradient;
    case Gradient::softmax: return softmax_gradient;
    case Gradient::loss: return loss_gradient;
    case Gradient::add: return add_gradient;
    case Gradient::extremum: return extremum_gradient;
    case Gradient::gather: return gather_gradient;
    case Gradient::scatter: return scatter_gradient;
    case Gradient::sum: return sum_gradient;
    case Gradient::reduce: return reduce_gradient;
    case Gradient::unary: return unary_gradient;
    case Gradient::none: return no_gradient;
  }
  return nullptr;
}

/// Throws InputError, which names the node and its operator, if no rule is known.
[[nodiscard]] inline GradientRule gradient_rule(const Node& node) {
  if (const GradientRule rule = find_gradient(node)) return rule;
  throw InputError("training: node '" + node.name + "' (" + detail::onnx_type(node) + "): no gradient is known");
}

/// Whether input `i` is differentiable. All inputs of an operator without a rule are.
[[nodiscard]] inline bool is_differentiable(const Node& node, std::size_t i) {
  const OperatorFacts& facts = facts_of(node);
  return facts.gradient == Gradient::unknown || !node.bodies.empty() || i < facts.differentiable ||
         facts.differentiable == operators::all_inputs;
}

/// Whether a differentiable input is a value that wants a gradient.
[[nodiscard]] inline bool passes_gradient(const Node& node, const std::vector<bool>& wanted) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i) && *node.inputs[i] < wanted.size() && wanted[*node.inputs[i]] && is_differentiable(node, i))
      return true;
  return false;
}

}  // namespace benanza::training
