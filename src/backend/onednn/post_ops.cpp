// SPDX-License-Identifier: Apache-2.0
#include "post_ops.hpp"

#include "candidates.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace benanza::onednn {
namespace {

float to_float(double value) {
  constexpr double limit = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -limit, limit));
}

}  // namespace

std::optional<Eltwise> eltwise(ElementwiseFn fn, double alpha, double beta) {
  using enum ElementwiseFn;
  using Algorithm = dnnl::algorithm;
  const float a = to_float(alpha), b = to_float(beta);
  switch (fn) {
    case ElementwiseFn::abs: return Eltwise{Algorithm::eltwise_abs};
    case celu: return alpha == 1 ? std::optional(Eltwise{Algorithm::eltwise_elu, 1}) : std::nullopt;
    case clip: return Eltwise{Algorithm::eltwise_clip, a, b};
    case elu: return Eltwise{Algorithm::eltwise_elu, a};
    case ElementwiseFn::exp: return Eltwise{Algorithm::eltwise_exp};
    case gelu: return Eltwise{Algorithm::eltwise_gelu_erf};
    case gelu_tanh: return Eltwise{Algorithm::eltwise_gelu_tanh};
    case hard_sigmoid: return Eltwise{Algorithm::eltwise_hardsigmoid, a, b};
    case hard_swish: return Eltwise{Algorithm::eltwise_hardswish, 1.0F / 6.0F, 0.5F};
    case leaky_relu: return Eltwise{Algorithm::eltwise_relu, a};
    case ElementwiseFn::log: return Eltwise{Algorithm::eltwise_log};
    case mish: return Eltwise{Algorithm::eltwise_mish};
    case neg: return Eltwise{Algorithm::eltwise_linear, -1};
    case reciprocal: return Eltwise{Algorithm::eltwise_pow, 1, -1};
    case relu: return Eltwise{Algorithm::eltwise_relu};
    case ElementwiseFn::round: return Eltwise{Algorithm::eltwise_round};
    case sigmoid: return Eltwise{Algorithm::eltwise_logistic};
    case softplus: return Eltwise{Algorithm::eltwise_soft_relu, 1};
    case ElementwiseFn::sqrt: return Eltwise{Algorithm::eltwise_sqrt};
    case square: return Eltwise{Algorithm::eltwise_square};
    case swish: return Eltwise{Algorithm::eltwise_swish, a};
    case ElementwiseFn::tanh: return Eltwise{Algorithm::eltwise_tanh};
    default: return std::nullopt;
  }
}

std::optional<dnnl::algorithm> binary(ElementwiseFn fn) {
  using enum ElementwiseFn;
  using Algorithm = dnnl::algorithm;
  switch (fn) {
    case add: return Algorithm::binary_add;
    case div: return Algorithm::binary_div;
    case equal: return Algorithm::binary_eq;
    case greater: return Algorithm::binary_gt;
    case greater_or_equal: return Algorithm::binary_ge;
    case less: return Algorithm::binary_lt;
    case less_or_equal: return Algorithm::binary_le;
    case ElementwiseFn::max: return Algorithm::binary_max;
    case ElementwiseFn::min: return Algorithm::binary_min;
    case mul: return Algorithm::binary_mul;
    case sub: return Algorithm::binary_sub;
    default: return std::nullopt;
  }
}

bool PostOps::append(ElementwiseFn fn, double alpha, double beta) {
  if (fn == ElementwiseFn::selu) {  // gamma * elu(alpha, x)
    ops.append_eltwise(dnnl::algorithm::eltwise_elu, to_float(alpha), 0);
    ops.append_eltwise(dnnl::algorithm::eltwise_linear, to_float(beta), 0);
    return true;
  }
  const auto function = eltwise(fn, alpha, beta);
  if (function) ops.append_eltwise(function->algorithm, function->alpha, function->beta);
  return function.has_value();
}

bool PostOps::append(ElementwiseFn fn, bool swapped, const Slot& slot, const Dims& operand, const Dims& result,
                     std::optional<Form> form) {
  using enum ElementwiseFn;
  if (fn == prelu && !swapped) {
    int mask = 0;
    for (std::size_t i = 0; i < operand.size(); ++i)
      if (operand[i] != 1) mask |= 1 << i;
    const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_WEIGHTS;
    if (operand == result) return false;  // takes its weights in a layout that it chooses itself
    ops.append_prelu(mask);
    uses.push_back({argument, slot});
    return true;
  }
  auto algorithm = binary(fn);
  if (!algorithm) return false;
  if (swapped) {
    // operand - x = -x + operand; operand / x = 1/x * operand; comparisons are reversed.
    if (fn == sub) {
      ops.append_eltwise(dnnl::algorithm::eltwise_linear, -1, 0);
      algorithm = dnnl::algorithm::binary_add;
    } else if (fn == div) {
      ops.append_eltwise(dnnl::algorithm::eltwise_pow, 1, -1);
      algorithm = dnnl::algorithm::binary_mul;
    } else if (fn == greater) algorithm = dnnl::algorithm::binary_lt;
    else if (fn == less) algorithm = dnnl::algorithm::binary_gt;
    else if (fn == greater_or_equal) algorithm = dnnl::algorithm::binary_le;
    else if (fn == less_or_equal) algorithm = dnnl::algorithm::binary_ge;
  }
  if (in_place != nullptr && !sums_into && algorithm == dnnl::algorithm::binary_add && operand == result &&
      !in_place->inputs.at(slot.index).constant) {
    ops.append_sum();
    sums_into = slot.index;
    return true;
  }
  const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1;
  const bool full = operand == result;
  Desc desc = full ? any(operand, type) : row_major(operand, type);
  if (form)
    desc = full ? in_form(operand, *form, type).value_or(row_major(operand, type)) : broadcast_to(*form, operand, type);
  ops.append_binary(*algorithm, desc);
  uses.push_back({argument, slot, row_major(operand, type)});
  return true;
}

dnnl::primitive_attr PostOps::attributes() const {
  auto attr = common_attributes();
  if (ops.len() > 0) attr.set_post_ops(ops);
  return attr;
}

std::vector<Dims> epilogue_dims(const Epilogue& post, const TensorShape& y, std::size_t channel_axis) {
  std::vector<Dims> result;
  for (const auto& op : post) {
    if (!is_binary(op.fn)) continue;
    Dims operand(y.size(), 1);
    if (op.channel) operand[channel_axis] = y[channel_axis];
    else if (op.shape.empty()) operand = dims(y);
    else std::copy(op.shape.begin(), op.shape.end(), operand.end() - static_cast<std::ptrdiff_t>(op.shape.size()));
    result.push_back(std::move(operand));
  }
  return result;
}

std::variant<PostOps, Unsupported> make_post_ops(const Epilogue& post, std::size_t first,
                                                 const std::vector<Dims>& operands, std::size_t input_base,
                                                 const Dims& y, std::optional<Form> form, PostOps before) {
  PostOps result = std::move(before);
  std::size_t operand = 0;
  for (std::size_t i = 0; i < post.size(); ++i) {
    const std::size_t index = is_binary(post[i].fn) ? operand++ : 0;
    if (i < first) continue;
    const bool appended = is_binary(post[i].fn) ? result.append(post[i].fn, post[i].swapped, input(input_base + index),
                                                                operands[index], y, form)
                                                : result.append(post[i].fn, post[i].alpha, post[i].beta);
    const auto name = enum_names(post[i].fn)[static_cast<std::size_t>(post[i].fn)];
    if (!appended) return Unsupported{"oneDNN " + Library::version() + " has no post-op " + std::string(name)};
  }
  return result;
}

std::variant<std::vector<PostOps>, Unsupported> ways_of_epilogue(const Epilogue& post,
                                                                 const std::vector<Dims>& operands, const Dims& y,
                                                                 std::optional<Form> form, Type type,
                                                                 const Operands& layer, bool scaled) {
  std::vector<PostOps> ways;
  for (const Operands* const in_place : {static_cast<const Operands*>(nullptr), &layer}) {
    if (in_place != nullptr && scaled) break;
    PostOps none;
    none.type = type;
    none.in_place = in_place;
    auto made = make_post_ops(post, starts_with_bias(post) ? 1 : 0, operands, 2, y, form, std::move(none));
    if (auto* refused = std::get_if<Unsupported>(&made)) return std::move(*refused);
    auto& way = std::get<PostOps>(made);
    if (in_place == nullptr || way.sums_into) ways.push_back(std::move(way));
  }
  return ways;
}

bool settled(const dnnl::primitive_desc_base& descriptor, const PostOps& post) {
  return std::all_of(post.uses.begin(), post.uses.end(), [&](const Use& use) {
    return !use.plain || descriptor.query_md(dnnl::query::exec_arg_md, use.argument).get_format_kind() ==
                             dnnl::memory::format_kind::blocked;
  });
}

}  // namespace benanza::onednn
