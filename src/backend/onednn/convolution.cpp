// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution: direct and Winograd, each implementation in layouts of its own choice, plain,
// and channels-last.
#include "families.hpp"
#include "post_ops.hpp"
#include "quantization_scales.hpp"
#include <benanza/base/detail/window.hpp>

#include <array>
#include <utility>
#include <vector>

namespace benanza::onednn {
namespace {

/// What convolution and transposed convolution have in common, in oneDNN's terms.
struct Problem {
  Dims x{}, w{}, y{};
  Desc plain_w{};  ///< memory of w in the dimensions of `w`, with the groups first
  Dims strides{}, dilations{}, pads_begin{}, pads_end{};
  bool w_constant = true;
  Type x_type = Type::f32, w_type = Type::f32, y_type = Type::f32;
};

/// Form of x and y; empty for oneDNN's choice.
using Choice = std::optional<Form>;

std::optional<Desc> described_x(const Dims& x, Choice choice, Type type) {
  return choice ? in_form(x, *choice, type) : any(x, type);
}
/// A result of one element per channel has only the plain form.
Desc described_y(const Dims& y, Choice choice, Type type) {
  return choice ? in_form(y, *choice, type).value_or(row_major(y, type)) : any(y, type);
}

Problem make_problem(const TensorShape& x, const TensorShape& y, const TensorShape& pads, const TensorShape& strides,
                     const TensorShape& dilations) {
  Problem problem{.x = dims(x), .y = dims(y)};
  const std::size_t spatial = x.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    problem.strides.push_back(detail::at_or(strides, i, 1));
    problem.dilations.push_back(detail::at_or(dilations, i, 1) - 1);
    problem.pads_begin.push_back(detail::at_or(pads, i, 0));
    problem.pads_end.push_back(detail::at_or(pads, i + spatial, 0));
  }
  return problem;
}

template <class Primitive>
void add_algorithm(const Problem& problem, const Epilogue& post, dnnl::algorithm algorithm,
                   const std::vector<Choice>& choices, const QuantizationScales& scales, Candidates& candidates) {
  const bool has_bias = starts_with_bias(post);
  const bool saves =
      algorithm == dnnl::algorithm::convolution_winograd || algorithm == dnnl::algorithm::deconvolution_winograd;
  const auto operands = epilogue_dims(post, TensorShape(std::span(problem.y)), 1);
  const Dims channels{problem.y[1]};
  // Computed weights have either a layout chosen by the plan, like any other operand, or the plain one.
  std::vector<std::pair<Choice, Desc>> forms;
  for (const auto& choice : choices) {
    forms.emplace_back(choice, any(problem.w, problem.w_type));
    if (!problem.w_constant) forms.emplace_back(choice, problem.plain_w);
  }
  for (const auto& [choice, w] : forms) {
    const auto x = described_x(problem.x, choice, problem.x_type);
    if (!x) continue;
    auto made =
        ways_of_epilogue(post, operands, problem.y, choice, problem.y_type, candidates.operands(), scales.active());
    if (const auto* refused = std::get_if<Unsupported>(&made)) return candidates.refuse(refused->reason);
    for (const PostOps& post_ops : std::get<std::vector<PostOps>>(made)) {
      auto attributes = post_ops.attributes();
      scales.set(attributes);
      const Type bias_type = scales.active() ? Type::f32 : problem.y_type;
      typename Primitive::primitive_desc first(
          candidates.engine(), dnnl::prop_kind::forward_inference, algorithm, *x, w,
          has_bias ? row_major(channels, bias_type) : Desc(), described_y(problem.y, choice, problem.y_type),
          problem.strides, problem.dilations, problem.pads_begin, problem.pads_end, attributes, true);
      for_each_implementation(first, [&](const auto& descriptor, const std::string& implementation) {
        if (!settled(descriptor, post_ops)) return;
        std::vector<Use> uses{{DNNL_ARG_SRC, input(0), row_major(problem.x, problem.x_type)},
                              {DNNL_ARG_WEIGHTS, input(1), problem.plain_w},
                              {DNNL_ARG_DST, output(), row_major(problem.y, problem.y_type)}};
        if (has_bias) uses.push_back({DNNL_ARG_BIAS, input(2)});
        uses.insert(uses.end(), post_ops.uses.begin(), post_ops.uses.end());
        Draft draft{.algorithm = implementation,
                    .saves_multiplications = saves,
                    .tolerance = saves ? 2e-3 : candidates.tolerance()};
        scales.add(draft, uses);
        draft.step(descriptor, std::move(uses));
        if (post_ops.sums_into) draft.sum_into(*post_ops.sums_into);
        if (has_bias) scales.add_bias(draft, 2, problem.y[1]);
        candidates.add(std::move(draft));
      });
    }
  }
}

}  // namespace

void add_plans(const op::Conv& op, Candidates& candidates) {
  Problem problem = make_problem(op.x, op.y(), op.pads, op.strides, op.dilations);
  problem.w = dims(op.w);
  if (op.group > 1) {
    problem.w.front() /= op.group;
    problem.w.insert(problem.w.begin(), op.group);
  }
  const auto x_type = element_type(op.type), w_type = element_type(op.w_type.value_or(op.type)),
             y_type = element_type(op.y_type.value_or(op.type));
  if (!x_type || !w_type || !y_type) return;
  problem.x_type = *x_type;
  problem.w_type = *w_type;
  problem.y_type = *y_type;
  problem.plain_w = row_major(problem.w, problem.w_type);
  const int channels = op.group > 1 ? 3 : 1;  // groups and their channels, or only channels
  const QuantizationScales scales(op, op.w[0], op.w_constant ? channels : 0, candidates.numbers());
  problem.w_constant = op.w_constant;
  const std::vector<Choice> choices{std::nullopt, Form::plain, Form::channels_last};
  add_algorithm<dnnl::convolution_forward>(problem, op.post, dnnl::algorithm::convolution_direct, choices, scales,
                                           candidates);
  add_algorithm<dnnl::convolution_forward>(problem, op.post, dnnl::algorithm::convolution_winograd, {std::nullopt},
                                           scales, candidates);
}

void add_plans(const op::ConvTranspose& op, Candidates& candidates) {
  Problem problem = make_problem(op.x, op.y(), op.pads, op.strides, op.dilations);
  // ONNX: y = stride * (x - 1) + output_padding + ...; oneDNN has no output padding, but a negative pad is equivalent.
  for (std::size_t i = 0; i < problem.pads_end.size(); ++i)
    problem.pads_end[i] -= detail::at_or(op.output_padding, i, 0);
  // ONNX stores w as C M/group kernel; oneDNN's dimensions are group M/group C/group kernel.
  const std::int64_t in = op.x[1] / op.group, out = op.w[1];
  Dims kernel(op.w.begin() + 2, op.w.end()), strides = row_major_strides(dims(op.w));
  problem.w = {out, in};
  problem.w.insert(problem.w.end(), kernel.begin(), kernel.end());
  std::swap(strides[0], strides[1]);
  if (op.group > 1) {
    problem.w.insert(problem.w.begin(), op.group);
    strides.insert(strides.begin(), in * strides[1]);
  }
  const auto type = element_type(op.type);
  if (!type) return;
  problem.x_type = problem.w_type = problem.y_type = *type;
  problem.plain_w = strided(problem.w, strides, problem.w_type);
  const int channels = op.group > 1 ? 3 : 1;
  const QuantizationScales scales(op, op.w[1] * op.group, op.w_constant ? channels : 0, candidates.numbers());
  problem.w_constant = op.w_constant;
  const std::vector<Choice> choices{std::nullopt, Form::plain, Form::channels_last};
  add_algorithm<dnnl::deconvolution_forward>(problem, op.post, dnnl::algorithm::deconvolution_direct, choices, scales,
                                             candidates);
}

}  // namespace benanza::onednn
