// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions: each implementation in layouts of its own choice, plain, and channels-last.
#include "families.hpp"
#include <benanza/base/detail/window.hpp>

#include <array>

namespace benanza::onednn {

void add_plans(const op::ConvGradient& op, Candidates& candidates) {
  const auto type = element_type(op.type);
  if (!type) return;
  const Dims x = dims(op.x), y = dims(op.y());
  Dims w = dims(op.w);
  if (op.group > 1) {
    w.front() /= op.group;
    w.insert(w.begin(), op.group);
  }
  const std::size_t spatial = op.x.size() - 2;
  Dims strides, dilations, begin, end;
  for (std::size_t i = 0; i < spatial; ++i) {
    strides.push_back(detail::at_or(op.strides, i, 1));
    dilations.push_back(detail::at_or(op.dilations, i, 1) - 1);
    begin.push_back(detail::at_or(op.pads, i, 0));
    end.push_back(detail::at_or(op.pads, i + spatial, 0));
  }
  const bool data = op.of == op::ConvGradientOf::data;
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  const Desc plain_x = row_major(x, *type), plain_w = row_major(w, *type), plain_y = row_major(y, *type);
  const auto add = [&](const auto& first, std::vector<Use> uses) {
    for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
      Draft draft{.algorithm = implementation, .tolerance = candidates.tolerance()};
      draft.step(descriptor, uses);
      candidates.add(std::move(draft));
    });
  };
  constexpr std::array<std::optional<Form>, 3> choices{std::nullopt, Form::plain, Form::channels_last};
  for (const auto& choice : choices) {
    const auto form_of = [&](const Dims& tensor) {
      return choice ? in_form(tensor, *choice, *type).value_or(row_major(tensor, *type)) : any(tensor, *type);
    };
    const Desc in_x = form_of(x), in_y = form_of(y);
    // In a layout chosen by the plan, as in the forward pass.
    const Desc in_w = choice ? plain_w : any(w, *type);
    const dnnl::convolution_forward::primitive_desc forward(candidates.engine(), dnnl::prop_kind::forward_training,
                                                            direct, in_x, in_w, Desc(), in_y, strides, dilations, begin,
                                                            end, common_attributes(), true);
    if (!forward) continue;
    if (data) {
      add(dnnl::convolution_backward_data::primitive_desc(candidates.engine(), direct, in_x, in_w, in_y, strides,
                                                          dilations, begin, end, forward, common_attributes(), true),
          {{DNNL_ARG_DIFF_DST, input(0), plain_y},
           {DNNL_ARG_WEIGHTS, input(1), plain_w},
           {DNNL_ARG_DIFF_SRC, output(), plain_x}});
    } else {
      add(dnnl::convolution_backward_weights::primitive_desc(candidates.engine(), direct, in_x, in_w, Desc(), in_y,
                                                             strides, dilations, begin, end, forward,
                                                             common_attributes(), true),
          {{DNNL_ARG_SRC, input(0), plain_x},
           {DNNL_ARG_DIFF_DST, input(1), plain_y},
           {DNNL_ARG_DIFF_WEIGHTS, output(), plain_w}});
    }
  }
}

}  // namespace benanza::onednn
