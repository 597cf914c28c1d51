// SPDX-License-Identifier: Apache-2.0
// Batch, layer and local response normalisation, and softmax.
#include "families.hpp"
#include "post_ops.hpp"
#include <benanza/plan/element.hpp>

#include <cmath>

namespace benanza::onednn {
namespace {

constexpr auto inference = dnnl::prop_kind::forward_inference;

void add_batch_normalization(const op::BatchNorm& op, Candidates& candidates) {
  const Dims x = dims(op.x);
  auto flags = dnnl::normalization_flags::use_global_stats | dnnl::normalization_flags::use_scale |
               dnnl::normalization_flags::use_shift;
  if (!op.post.empty()) flags |= dnnl::normalization_flags::fuse_norm_relu;
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form);
    if (!desc) continue;
    dnnl::batch_normalization_forward::primitive_desc first(candidates.engine(), inference, *desc, *desc,
                                                            candidates.epsilon(), flags, common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation};
      draft.step(descriptor, {{DNNL_ARG_SRC, input(0), row_major(x)},
                              {DNNL_ARG_SCALE, input(1)},
                              {DNNL_ARG_SHIFT, input(2)},
                              {DNNL_ARG_MEAN, input(3)},
                              {DNNL_ARG_VARIANCE, input(4)},
                              {DNNL_ARG_DST, output(), row_major(x)}});
      candidates.add(std::move(draft));
    });
  }
}

/// x - mean, with 1 / sqrt(var + epsilon), prepared as a constant, and scale and b as post-ops: takes any epilogue.
void add_binary_chain(const op::BatchNorm& op, Candidates& candidates) {
  const Dims x = dims(op.x), channels{1, op.x[1], 1};
  const Transform inverse_deviation{
      "rsqrt", [count = static_cast<std::size_t>(op.x[1]), epsilon = candidates.epsilon()](const void* variance) {
        const auto* const first = static_cast<const float*>(variance);
        std::vector<float> result(first, first + count);
        for (auto& value : result) value = 1.0F / std::sqrt(value + epsilon);
        return result;
      }};
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form);
    if (!desc) continue;
    PostOps chain;
    using enum ElementwiseFn;
    chain.append(mul, false, input(4), channels, x, form);
    chain.append(mul, false, input(1), channels, x, form);
    chain.append(add, false, input(2), channels, x, form);
    auto made = make_post_ops(op.post, 0, epilogue_dims(op.post, op.x, 1), 5, x, form, std::move(chain));
    if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
    const auto& post = std::get<PostOps>(made);
    dnnl::binary::primitive_desc first(candidates.engine(), dnnl::algorithm::binary_sub, *desc,
                                       broadcast_to(form, channels), *desc, post.attributes(), true);
    std::vector<Use> uses{
        {DNNL_ARG_SRC_0, input(0), row_major(x)}, {DNNL_ARG_SRC_1, input(3)}, {DNNL_ARG_DST, output(), row_major(x)}};
    uses.insert(uses.end(), post.uses.begin(), post.uses.end());
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = "binary:" + implementation};
      draft.step(descriptor, uses);
      draft.transform(4, row_major({op.x[1]}), row_major({op.x[1]}), inverse_deviation);
      candidates.add(std::move(draft));
    });
  }
}

}  // namespace

void add_plans(const op::BatchNorm& op, Candidates& candidates) {
  if (op.post.empty() || op.post == Epilogue{ElementwiseFn::relu}) add_batch_normalization(op, candidates);
  add_binary_chain(op, candidates);
}

void add_plans(const op::LayerNorm& op, Candidates& candidates) {
  if (op.rms) return candidates.refuse("no RMS norm in oneDNN " + Library::version());
  if (op.residual != op::Residual::none) return candidates.refuse("no norm of a sum in oneDNN " + Library::version());
  auto flags = dnnl::normalization_flags::none;
  if (op.scale) flags |= dnnl::normalization_flags::use_scale;
  if (op.bias) flags |= dnnl::normalization_flags::use_shift;
  const Type type = *element_type(op.type);
  const Desc x = row_major(dims(op.x), type);
  // oneDNN takes scale and shift in f32, whatever the type of x.
  const Transform widened{"f32", [from = op.type, count = op.x[1]](const void* vector) {
                            std::vector<float> result;
                            for (std::int64_t i = 0; i < count; ++i)
                              result.push_back(static_cast<float>(load(vector, from, i)));
                            return result;
                          }};
  dnnl::layer_normalization_forward::primitive_desc first(candidates.engine(), inference, x, x, candidates.epsilon(),
                                                          flags, common_attributes(), true);
  for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
    std::vector<Use> uses{{DNNL_ARG_SRC, input(0)}, {DNNL_ARG_DST, output()}};
    if (op.scale) uses.push_back({DNNL_ARG_SCALE, input(1)});
    if (op.bias) uses.push_back({DNNL_ARG_SHIFT, input(op.scale ? 2 : 1)});
    Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
    draft.step(descriptor, std::move(uses));
    if (type != Type::f32)
      for (std::size_t i = 1; i < candidates.operands().inputs.size(); ++i)
        draft.transform(i, row_major({op.x[1]}), row_major({op.x[1]}), widened);
    candidates.add(std::move(draft));
  });
}

void add_plans(const op::Lrn& op, Candidates& candidates) {
  const Dims x{op.x[0], op.x[1], op.x[2], 1};  // its kernels require two spatial dimensions
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form);
    if (!desc) continue;
    dnnl::lrn_forward::primitive_desc first(
        candidates.engine(), inference, dnnl::algorithm::lrn_across_channels, *desc, *desc, op.size,
        static_cast<float>(candidates.numbers().lrn_alpha), static_cast<float>(op.beta),
        static_cast<float>(candidates.numbers().lrn_bias), common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation};
      draft.step(descriptor, {{DNNL_ARG_SRC, input(0), row_major(x)}, {DNNL_ARG_DST, output(), row_major(x)}});
      candidates.add(std::move(draft));
    });
  }
}

void add_plans(const op::Softmax& op, Candidates& candidates) {
  const Dims x = op.x[2] == 1 ? Dims{op.x[0], op.x[1]} : dims(op.x);
  const auto algorithm = op.log ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  const Type type = *element_type(op.type);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto desc = in_form(x, form, type);
    if (!desc) continue;
    dnnl::softmax_forward::primitive_desc first(candidates.engine(), inference, algorithm, *desc, *desc, 1,
                                                common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor,
                 {{DNNL_ARG_SRC, input(0), row_major(x, type)}, {DNNL_ARG_DST, output(), row_major(x, type)}});
      candidates.add(std::move(draft));
    });
  }
}

}  // namespace benanza::onednn
