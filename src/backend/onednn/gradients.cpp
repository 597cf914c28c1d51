// SPDX-License-Identifier: Apache-2.0
// Gradients of element-wise functions, softmax, batch and layer normalisation: oneDNN's backward primitives.
#include "families.hpp"

#include <optional>

namespace benanza::onednn {
namespace {

constexpr auto training = dnnl::prop_kind::forward_training;

struct Function {
  dnnl::algorithm algorithm{};
  float alpha = 0, beta = 0;
};

/// The functions whose gradient reads what the layer has: its result or its operand.
std::optional<Function> function_of(const op::UnaryGradient& op) {
  using enum ElementwiseFn;
  using enum dnnl::algorithm;
  const auto alpha = static_cast<float>(op.alpha), beta = static_cast<float>(op.beta);
  switch (op.fn) {
    case relu: return Function{eltwise_relu_use_dst_for_bwd};
    case leaky_relu: return op.alpha < 0 ? std::nullopt : std::optional(Function{eltwise_relu_use_dst_for_bwd, alpha});
    case elu: return op.alpha < 0 ? std::nullopt : std::optional(Function{eltwise_elu_use_dst_for_bwd, alpha});
    case sigmoid: return Function{eltwise_logistic_use_dst_for_bwd};
    case ElementwiseFn::tanh: return Function{eltwise_tanh_use_dst_for_bwd};
    case ElementwiseFn::exp: return Function{eltwise_exp_use_dst_for_bwd};
    case ElementwiseFn::sqrt: return Function{eltwise_sqrt_use_dst_for_bwd};
    case ElementwiseFn::abs: return Function{eltwise_abs};
    case clip: return Function{eltwise_clip_v2, alpha, beta};
    case gelu: return Function{eltwise_gelu_erf};
    case gelu_tanh: return Function{eltwise_gelu_tanh};
    case hard_swish: return Function{eltwise_hardswish, 1.0F / 6, 0.5F};
    case ElementwiseFn::log: return Function{eltwise_log};
    case mish: return Function{eltwise_mish};
    case softplus: return Function{eltwise_soft_relu, 1};
    case swish: return Function{eltwise_swish, alpha};
    default: return std::nullopt;
  }
}

}  // namespace

void add_plans(const op::UnaryGradient& op, Candidates& candidates) {
  const auto function = function_of(op);
  if (!function) return candidates.refuse("no gradient of this function in oneDNN " + Library::version());
  const Desc x = row_major(dims(op.x), *element_type(op.type));
  const dnnl::eltwise_forward::primitive_desc forward(candidates.engine(), training, function->algorithm, x, x,
                                                      function->alpha, function->beta, common_attributes(), true);
  if (!forward) return;
  dnnl::eltwise_backward::primitive_desc first(candidates.engine(), function->algorithm, x, x, x, function->alpha,
                                               function->beta, forward, common_attributes(), true);
  for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
    Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
    draft.step(descriptor, {{DNNL_ARG_DIFF_DST, input(0)},
                            {op.reads_result() ? DNNL_ARG_DST : DNNL_ARG_SRC, input(1)},
                            {DNNL_ARG_DIFF_SRC, output()}});
    candidates.add(std::move(draft));
  });
}

void add_plans(const op::SoftmaxGradient& op, Candidates& candidates) {
  const Dims x = op.x[2] == 1 ? Dims{op.x[0], op.x[1]} : dims(op.x);
  const auto algorithm = op.log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const Type type = *element_type(op.type);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form, type);
    if (!desc) continue;
    const dnnl::softmax_forward::primitive_desc forward(candidates.engine(), training, algorithm, *desc, *desc, 1,
                                                        common_attributes(), true);
    if (!forward) continue;
    dnnl::softmax_backward::primitive_desc first(candidates.engine(), algorithm, *desc, *desc, *desc, 1, forward,
                                                 common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor, {{DNNL_ARG_DIFF_DST, input(0), row_major(x, type)},
                              {DNNL_ARG_DST, input(1), row_major(x, type)},
                              {DNNL_ARG_DIFF_SRC, output(), row_major(x, type)}});
      candidates.add(std::move(draft));
    });
  }
}

void add_plans(const op::NormGradient& op, Candidates& candidates) {
  if (op.of == op::NormGradientOf::group || op.of == op::NormGradientOf::rms)
    return candidates.refuse("no gradient of group or RMS normalisation in oneDNN " + Library::version());
  if (op.affine && !op.bias)
    return candidates.refuse("no gradient of a scale without that of a bias in oneDNN " + Library::version());
  const Dims x = dims(op.x);
  const bool batch = op.of == op::NormGradientOf::batch;
  const auto flags = op.affine ? dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift
                               : dnnl::normalization_flags::none;
  const auto kind = op.affine ? dnnl::prop_kind::backward : dnnl::prop_kind::backward_data;
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form);
    if (!desc || (!batch && form != Form::plain)) continue;
    std::vector<Use> uses{{DNNL_ARG_DIFF_DST, input(0), row_major(x)},
                          {DNNL_ARG_SRC, input(1), row_major(x)},
                          {DNNL_ARG_MEAN, input(op.affine ? 3 : 2)},
                          {DNNL_ARG_VARIANCE, input(op.affine ? 4 : 3)},
                          {DNNL_ARG_DIFF_SRC, output(), row_major(x)}};
    if (op.affine)
      uses.insert(uses.end(),
                  {{DNNL_ARG_SCALE, input(2)}, {DNNL_ARG_DIFF_SCALE, output(1)}, {DNNL_ARG_DIFF_SHIFT, output(2)}});
    // oneDNN requires a shift to compute the shift's gradient, but does not read it. The scale, of the same shape, is
    // passed.
    if (op.affine && !batch) uses.push_back({DNNL_ARG_SHIFT, input(2)});
    const auto add = [&](const auto& first) {
      for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
        Draft draft{.algorithm = implementation};
        draft.step(descriptor, uses);
        candidates.add(std::move(draft));
      });
    };
    if (batch) {
      const dnnl::batch_normalization_forward::primitive_desc forward(
          candidates.engine(), training, *desc, *desc, candidates.epsilon(), flags, common_attributes(), true);
      if (forward)
        add(dnnl::batch_normalization_backward::primitive_desc(candidates.engine(), kind, *desc, *desc, *desc,
                                                               candidates.epsilon(), flags, forward,
                                                               common_attributes(), true));
    } else {
      const dnnl::layer_normalization_forward::primitive_desc forward(
          candidates.engine(), training, *desc, *desc, candidates.epsilon(), flags, common_attributes(), true);
      if (forward)
        add(dnnl::layer_normalization_backward::primitive_desc(candidates.engine(), kind, *desc, *desc, *desc,
                                                               candidates.epsilon(), flags, forward,
                                                               common_attributes(), true));
    }
  }
}

}  // namespace benanza::onednn
