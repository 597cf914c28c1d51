// SPDX-License-Identifier: Apache-2.0
// Pooling; a mean over whole planes is also offered as a reduction.
#include "families.hpp"
#include "reduction.hpp"
#include <benanza/base/detail/window.hpp>

#include <algorithm>

namespace benanza::onednn {
namespace {

template <class Op>
dnnl::algorithm algorithm_of(const Op& op) {
  if (op.mode == op::PoolMode::max) return dnnl::algorithm::pooling_max;
  return op.include_pad ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding;
}

bool has_nonzero(const TensorShape& list) {
  return std::any_of(list.begin(), list.end(), [](auto value) { return value != 0; });
}

/// Windows in oneDNN's terms, where a dilation of 0 means none.
struct Windows {
  Dims strides{}, dilations{}, begins{}, ends{};
};
template <class Op>
Windows windows_of(const Op& op) {
  const std::size_t spatial = op.x.size() - 2;
  Windows made;
  for (std::size_t i = 0; i < spatial; ++i) {
    made.strides.push_back(detail::at_or(op.strides, i, 1));
    made.dilations.push_back(detail::at_or(op.dilations, i, 1) - 1);
    made.begins.push_back(detail::at_or(op.pads, i, 0));
    made.ends.push_back(detail::at_or(op.pads, i + spatial, 0));
  }
  return made;
}

}  // namespace

void add_plans(const op::Pool& op, Candidates& candidates) {
  const std::string none = "oneDNN " + Library::version() + " has no ";
  if (op.mode == op::PoolMode::lp) return candidates.refuse(none + "Lp pooling");
  if (op.indices) return candidates.refuse(none + "pooling with ONNX's indices");
  if (op.mode == op::PoolMode::average && op.include_pad && has_nonzero(op.ceil_pads))
    return candidates.refuse(none + "average over padding without the cells of ceil_mode");

  const std::size_t spatial = op.x.size() - 2;
  const Dims x = dims(op.x), y = dims(op.y()), kernel = dims(op.kernel);
  const Type type = *element_type(op.type);
  const auto [strides, dilations, begins, ends] = windows_of(op);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto source = in_form(x, form, type);
    if (!source) continue;
    dnnl::pooling_forward::primitive_desc first(candidates.engine(), dnnl::prop_kind::forward_inference,
                                                algorithm_of(op), *source, any(y, type), strides, kernel, dilations,
                                                begins, ends, common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor,
                 {{DNNL_ARG_SRC, input(0), row_major(x, type)}, {DNNL_ARG_DST, output(), row_major(y, type)}});
      candidates.add(std::move(draft));
    });
  }
  const bool whole_plane =
      std::equal(kernel.begin(), kernel.end(), x.begin() + 2) && !has_nonzero(op.pads) && !has_nonzero(op.ceil_pads);
  if (whole_plane) {
    const auto fn = op.mode == op::PoolMode::max ? dnnl::algorithm::reduction_max : dnnl::algorithm::reduction_mean;
    add_reduction(fn, 0, {x[0] * x[1], element_count(std::span(op.x.begin() + 2, spatial))}, {x[0] * x[1], 1}, {}, type,
                  candidates);
  }
}

/// The gradient of average pooling. That of max pooling reads a workspace written by oneDNN's own forward pass, and not
/// ONNX's indices.
void add_plans(const op::PoolGradient& op, Candidates& candidates) {
  const std::string none = "oneDNN " + Library::version() + " has no ";
  if (op.mode == op::PoolMode::max) return candidates.refuse(none + "gradient of max-pooling from ONNX's indices");
  if (op.include_pad && has_nonzero(op.ceil_pads))
    return candidates.refuse(none + "average over padding without the cells of ceil_mode");
  const Dims x = dims(op.x), y = dims(op.y()), kernel = dims(op.kernel);
  const Type type = *element_type(op.type);
  const auto [strides, dilations, begins, ends] = windows_of(op);
  for (const Form form : {Form::plain, Form::channels_last, Form::blocked}) {
    const auto source = in_form(x, form, type), target = in_form(y, form, type);
    if (!source || !target) continue;
    const dnnl::pooling_forward::primitive_desc forward(candidates.engine(), dnnl::prop_kind::forward_training,
                                                        algorithm_of(op), *source, *target, strides, kernel, dilations,
                                                        begins, ends, common_attributes(), true);
    if (!forward) continue;
    dnnl::pooling_backward::primitive_desc first(candidates.engine(), algorithm_of(op), *source, *target, strides,
                                                 kernel, dilations, begins, ends, forward, common_attributes(), true);
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor, {{DNNL_ARG_DIFF_DST, input(0), row_major(y, type)},
                              {DNNL_ARG_DIFF_SRC, output(), row_major(x, type)}});
      candidates.add(std::move(draft));
    });
  }
}

}  // namespace benanza::onednn
