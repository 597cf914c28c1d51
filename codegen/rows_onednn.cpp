// SPDX-License-Identifier: Apache-2.0
// Rows of oneDNN's families, with the problem in oneDNN's terms.
#include "standalone.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/base/detail/fold_leading.hpp>
#include <benanza/model/composed_attention.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/quantization.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_onednn(const std::string& what) { refuse_row("oneDNN", what); }

std::string onednn_type(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::bf16:
    case DataType::f16:
    case DataType::u8: return "Type::" + std::string(name(type));
    case DataType::i8: return "Type::s8";
    case DataType::i32: return "Type::s32";
    default: refuse_onednn("type " + std::string(name(type)));
  }
}

/// Types of both operands and of the result.
std::string types_text(DataType src, DataType wei, DataType dst) {
  return fmt::format(".src = {}, .wei = {}, .dst = {}, .bias_type = {}", onednn_type(src), onednn_type(wei),
                     onednn_type(dst), onednn_type(is_8_bit(src) ? DataType::f32 : dst));
}

struct Eltwise {
  ElementwiseFn fn;
  const char* algorithm;
  const char *alpha = "0", *beta = "0";  ///< nullptr: the layer's own
};
constexpr Eltwise eltwise_list[] = {
    {ElementwiseFn::abs, "eltwise_abs"},
    {ElementwiseFn::clip, "eltwise_clip", nullptr, nullptr},
    {ElementwiseFn::elu, "eltwise_elu", nullptr},
    {ElementwiseFn::exp, "eltwise_exp"},
    {ElementwiseFn::gelu, "eltwise_gelu_erf"},
    {ElementwiseFn::gelu_tanh, "eltwise_gelu_tanh"},
    {ElementwiseFn::hard_sigmoid, "eltwise_hardsigmoid", nullptr, nullptr},
    {ElementwiseFn::hard_swish, "eltwise_hardswish", "1.0f / 6", "0.5f"},
    {ElementwiseFn::leaky_relu, "eltwise_relu", nullptr},
    {ElementwiseFn::log, "eltwise_log"},
    {ElementwiseFn::mish, "eltwise_mish"},
    {ElementwiseFn::neg, "eltwise_linear", "-1"},
    {ElementwiseFn::reciprocal, "eltwise_pow", "1", "-1"},
    {ElementwiseFn::relu, "eltwise_relu"},
    {ElementwiseFn::round, "eltwise_round"},
    {ElementwiseFn::sigmoid, "eltwise_logistic"},
    {ElementwiseFn::softplus, "eltwise_soft_relu", "1"},
    {ElementwiseFn::sqrt, "eltwise_sqrt"},
    {ElementwiseFn::square, "eltwise_square"},
    {ElementwiseFn::swish, "eltwise_swish", nullptr},
    {ElementwiseFn::tanh, "eltwise_tanh"},
};
constexpr std::pair<ElementwiseFn, const char*> binary_list[] = {
    {ElementwiseFn::add, "binary_add"}, {ElementwiseFn::mul, "binary_mul"}, {ElementwiseFn::sub, "binary_sub"},
    {ElementwiseFn::div, "binary_div"}, {ElementwiseFn::max, "binary_max"}, {ElementwiseFn::min, "binary_min"},
};

std::string eltwise_text(ElementwiseFn fn, double alpha, double beta) {
  const auto* found =
      std::find_if(std::begin(eltwise_list), std::end(eltwise_list), [&](const Eltwise& e) { return e.fn == fn; });
  if (found == std::end(eltwise_list)) refuse_onednn("the function " + std::string(detail::enum_name(fn)));
  return fmt::format("dnnl::algorithm::{}, {}, {}", found->algorithm, found->alpha ? found->alpha : float_text(alpha),
                     found->beta ? found->beta : float_text(beta));
}

std::string binary_text(ElementwiseFn fn) {
  const auto* found =
      std::find_if(std::begin(binary_list), std::end(binary_list), [&](const auto& e) { return e.first == fn; });
  if (found == std::end(binary_list)) refuse_onednn("the function " + std::string(detail::enum_name(fn)));
  return std::string("dnnl::algorithm::") + found->second;
}

/// The steps from number `first` on, as a list. Empty if there are none. `operands`: dimensions of all binary steps, in
/// order.
std::string post_text(const Epilogue& post, std::size_t first, const std::vector<Dims>& operands) {
  std::string text;
  std::size_t operand = 0;
  const auto append = [&](const std::string& step) { text += (text.empty() ? "{" : ", {") + step + "}"; };
  for (std::size_t i = 0; i < post.size(); ++i) {
    const PostOp& step = post[i];
    const bool binary = is_binary(step.fn);
    const Dims dims = binary ? operands.at(operand++) : Dims{};
    if (i < first) continue;
    if (!binary) {
      append(eltwise_text(step.fn, step.alpha, step.beta));
      continue;
    }
    // operand - x = -x + operand; operand / x = 1/x * operand.
    ElementwiseFn fn = step.fn;
    if (step.swapped && fn == ElementwiseFn::sub) {
      append(eltwise_text(ElementwiseFn::neg, 0, 0));
      fn = ElementwiseFn::add;
    } else if (step.swapped && fn == ElementwiseFn::div) {
      append(eltwise_text(ElementwiseFn::reciprocal, 0, 0));
      fn = ElementwiseFn::mul;
    }
    append(fmt::format(".function = {}, .operand = {}{}", binary_text(fn), list(dims),
                       step.channel ? ", .weights = true" : ""));
  }
  return text.empty() ? "" : ", .post = {" + text + "}";
}

std::vector<Dims> all_operands(const Epilogue& post, const Dims& y, std::size_t channel_axis) {
  std::vector<Dims> result;
  for (const auto& op : post)
    if (is_binary(op.fn)) result.push_back(operand_dims(op, y, channel_axis));
  return result;
}

/// Empty for a layer that is not quantised.
std::string scaling_text(const Layer& layer, DataType dst, std::int64_t channels, int mask) {
  const Quantization numbers = quantization(layer);
  std::string text;
  if (is_8_bit(type(layer)) && dst != DataType::i32)  // i32: the sums themselves
    text = fmt::format(".scaled = true, .weights = {}, .channels = {}, .mask = {}", float_text(numbers.rescale),
                       channels, mask);
  if (numbers.x_zero != 0) text += fmt::format("{}.src_zero = {:.0f}", text.empty() ? "" : ", ", numbers.x_zero);
  if (numbers.w_zero != 0) text += fmt::format("{}.weights_zero = {:.0f}", text.empty() ? "" : ", ", numbers.w_zero);
  return text.empty() ? "" : ", .scaling = {" + text + "}";
}

}  // namespace

std::optional<std::string> onednn_convolution_row(const Layer& layer) {
  const auto* op = std::get_if<op::Conv>(&layer);
  if (op == nullptr) return std::nullopt;
  const Dims y = dims_of(op->y());
  Dims w = dims_of(op->w), dilations = entries(op->dilations, 0, y.size() - 2, 1);
  if (op->group > 1) {
    w.front() /= op->group;
    w.insert(w.begin(), op->group);
  }
  for (auto& dilation : dilations) --dilation;  // oneDNN counts the elements between two taps
  const std::size_t spatial = y.size() - 2;
  const DataType dst = op->y_type.value_or(op->type);
  const bool biased = starts_with_bias(op->post);
  const int channels = op->group > 1 ? 3 : 1;  // groups and their channels, or channels
  return types_text(op->type, op->w_type.value_or(op->type), dst) +
         fmt::format(
             ", .x = {}, .w = {}, .y = {}, .strides = {}, .dilations = {}, .pads_begin = {}, .pads_end = {}{}{}",
             list(op->x), list(w), list(y), list(entries(op->strides, 0, spatial, 1)), list(dilations),
             list(entries(op->pads, 0, spatial, 0)), list(entries(op->pads, spatial, spatial, 0)),
             op->w_constant ? "" : ", .constant_weights = false", biased ? ", .bias = true" : "") +
         post_text(op->post, biased ? 1 : 0, all_operands(op->post, y, 1)) +
         scaling_text(layer, dst, op->w[0], op->w_constant ? channels : 0);
}

std::optional<std::string> onednn_transposed_row(const Layer& layer) {
  const auto* op = std::get_if<op::ConvTranspose>(&layer);
  if (op == nullptr) return std::nullopt;
  const Dims y = dims_of(op->y());
  const std::size_t spatial = y.size() - 2;
  // In ONNX, the dimensions of w are C M/group kernel; in oneDNN, they are group M/group C/group kernel.
  Dims w = dims_of(op->w), w_strides(w.size(), 1);
  for (std::size_t i = w.size(); i-- > 1;) w_strides[i - 1] = w_strides[i] * w[i];
  w[0] /= op->group;
  std::swap(w[0], w[1]);
  std::swap(w_strides[0], w_strides[1]);
  if (op->group > 1) {
    w_strides.insert(w_strides.begin(), w[1] * w_strides[1]);
    w.insert(w.begin(), op->group);
  }
  Dims dilations = entries(op->dilations, 0, spatial, 1), pads_end = entries(op->pads, spatial, spatial, 0);
  const Dims output_padding = entries(op->output_padding, 0, spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    --dilations[i];                    // oneDNN counts the elements between two taps
    pads_end[i] -= output_padding[i];  // oneDNN has no output padding; a negative pad does the same
  }
  const bool biased = starts_with_bias(op->post);
  const int channels = op->group > 1 ? 3 : 1;  // groups and their channels, or channels
  return types_text(op->type, op->type, op->type) +
         fmt::format(
             ", .x = {}, .w = {}, .w_strides = {}, .y = {}, .strides = {}, .dilations = {}, .pads_begin = {}, "
             ".pads_end = {}{}{}",
             list(op->x), list(w), list(w_strides), list(y), list(entries(op->strides, 0, spatial, 1)), list(dilations),
             list(entries(op->pads, 0, spatial, 0)), list(pads_end),
             op->w_constant ? "" : ", .constant_weights = false", biased ? ", .bias = true" : "") +
         post_text(op->post, biased ? 1 : 0, all_operands(op->post, y, 1)) +
         scaling_text(layer, op->type, op->w[1] * op->group, op->w_constant ? channels : 0);
}

std::optional<std::string> onednn_product_row(const Layer& layer) {
  const auto* op = std::get_if<op::MatMul>(&layer);
  if (op == nullptr) return std::nullopt;
  const DataType wei = op->b_type.value_or(op->type), dst = op->y_type.value_or(op->type);
  if (is_8_bit(op->type) && wei == DataType::u8) refuse_onednn("weights of u8, which a plan shifts to s8");
  Dims y = dims_of(op->y());
  const auto padded = [&](const TensorShape& from) {
    Dims dims(y.size() - from.size(), 1);
    dims.insert(dims.end(), from.begin(), from.end());
    return dims;
  };
  Dims a = padded(op->a), b = padded(op->b);
  auto operands = all_operands(op->post, y, y.size() - 1);
  std::vector<Dims*> together{&y, &a, &b};
  for (auto& operand : operands) together.push_back(&operand);
  detail::fold_leading(together, 2);
  const bool biased = starts_with_bias(op->post);
  std::string row =
      types_text(op->type, wei, dst) + fmt::format(", .a = {}, .b = {}, .y = {}", list(a), list(b), list(y));
  if (op->trans_a) row += ", .trans_a = true";
  if (op->trans_b) row += ", .trans_b = true";
  if (op->b_constant) row += ", .constant_b = true";
  if (biased) row += ", .bias = " + list(operands.front());
  return row + post_text(op->post, biased ? 1 : 0, operands) +
         scaling_text(layer, dst, op->n(), op->b_constant ? 1 << (y.size() - 1) : 0);
}

std::optional<std::string> onednn_backward_row(const Layer& layer) {
  const auto* op = std::get_if<op::ConvGradient>(&layer);
  if (op == nullptr) return std::nullopt;
  Dims w = dims_of(op->w), dilations = entries(op->dilations, 0, op->x.size() - 2, 1);
  if (op->group > 1) {
    w.front() /= op->group;
    w.insert(w.begin(), op->group);
  }
  for (auto& dilation : dilations) --dilation;
  const std::size_t spatial = op->x.size() - 2;
  return fmt::format(
      ".type = {}{}, .x = {}, .w = {}, .y = {}, .strides = {}, .dilations = {}, .pads_begin = {}, .pads_end = {}",
      onednn_type(op->type), op->of == op::ConvGradientOf::data ? "" : ", .by_weights = true", list(op->x), list(w),
      list(op->y()), list(entries(op->strides, 0, spatial, 1)), list(dilations), list(entries(op->pads, 0, spatial, 0)),
      list(entries(op->pads, spatial, spatial, 0)));
}

std::optional<std::string> onednn_pooling_row(const Layer& layer) {
  const auto* op = std::get_if<op::Pool>(&layer);
  if (op == nullptr) return std::nullopt;
  const auto is_set = [](const TensorShape& list) {
    return std::any_of(list.begin(), list.end(), [](auto v) { return v != 0; });
  };
  if (op->mode == op::PoolMode::lp) refuse_onednn("Lp pooling");
  if (op->indices) refuse_onednn("pooling with ONNX's indices");
  if (op->include_pad && is_set(op->ceil_pads)) refuse_onednn("an average over padding without the cells of ceil_mode");
  const std::size_t spatial = op->x.size() - 2;
  Dims dilations = entries(op->dilations, 0, spatial, 1);
  for (auto& dilation : dilations) --dilation;
  const char* algorithm = op->mode == op::PoolMode::max ? "max"
                          : op->include_pad             ? "avg_include_padding"
                                                        : "avg_exclude_padding";
  return fmt::format(
      ".type = {}, .algorithm = dnnl::algorithm::pooling_{}, .x = {}, .y = {}, .kernel = {}, .strides = {}, .dilations "
      "= {}, "
      ".pads_begin = {}, .pads_end = {}",
      onednn_type(op->type), algorithm, list(op->x), list(op->y()), list(op->kernel),
      list(entries(op->strides, 0, spatial, 1)), list(dilations), list(entries(op->pads, 0, spatial, 0)),
      list(entries(op->pads, spatial, spatial, 0)));
}

std::optional<std::string> onednn_normalization_row(const Layer& layer) {
  if (const auto* op = std::get_if<op::BatchNorm>(&layer)) {
    if (op->type != DataType::f32) refuse_onednn("batch normalisation in other types than f32");
    if (!op->post.empty() && !(op->post == Epilogue{ElementwiseFn::relu}))
      refuse_onednn("batch normalisation with this epilogue");
    return fmt::format(".norm = Norm::batch, .type = Type::f32, .x = {}{}", list(op->x),
                       op->post.empty() ? "" : ", .relu = true");
  }
  if (const auto* op = std::get_if<op::LayerNorm>(&layer)) {
    if (op->rms) refuse_onednn("RMS normalisation");
    if (op->residual != op::Residual::none) refuse_onednn("a norm of a sum");
    return fmt::format(".norm = Norm::layer, .type = {}, .x = {}{}{}", onednn_type(op->type), list(op->x),
                       op->scale ? ", .scale = true" : "", op->bias ? ", .shift = true" : "");
  }
  if (const auto* op = std::get_if<op::Lrn>(&layer)) {
    if (op->type != DataType::f32) refuse_onednn("local response normalisation in other types than f32");
    return fmt::format(".norm = Norm::local_response, .type = Type::f32, .x = {}, .size = {}, .beta = {}", list(op->x),
                       op->size, float_text(op->beta));
  }
  return std::nullopt;
}

std::optional<std::string> onednn_softmax_row(const Layer& layer) {
  const auto* op = std::get_if<op::Softmax>(&layer);
  if (op == nullptr) return std::nullopt;
  return fmt::format(".type = {}, .algorithm = dnnl::algorithm::softmax_{}, .x = {}", onednn_type(op->type),
                     op->log ? "log" : "accurate", list(op->x[2] == 1 ? Dims{op->x[0], op->x[1]} : dims_of(op->x)));
}

std::optional<std::string> onednn_activation_row(const Layer& layer) {
  const auto* op = std::get_if<op::Unary>(&layer);
  if (op == nullptr) return std::nullopt;
  if (!op->post.empty()) refuse_onednn("a function of one tensor with an epilogue");
  std::string function = eltwise_text(op->fn, op->alpha, op->beta);
  return fmt::format(".type = {}, .x = {}, .function = {}", onednn_type(op->type),
                     list(op->x.empty() ? TensorShape{1} : op->x),
                     function.insert(function.find(',') + 1, " .alpha =").insert(function.rfind(',') + 1, " .beta ="));
}

std::optional<std::string> onednn_binary_row(const Layer& layer) {
  const auto* op = std::get_if<op::Binary>(&layer);
  if (op == nullptr) return std::nullopt;
  const TensorShape y = op->y().empty() ? TensorShape{1} : op->y();
  TensorShape a = op->a.empty() ? TensorShape{1} : op->a, b = op->b.empty() ? TensorShape{1} : op->b;
  if (is_8_bit(op->type) || op->scaled) refuse_onednn("functions of two quantised tensors");
  if (!(a == y)) {
    const bool commutes = op->fn != ElementwiseFn::sub && op->fn != ElementwiseFn::div;
    if (!(b == y) || !commutes) refuse_onednn("two operands that broadcast");
    std::swap(a, b);
  }
  return fmt::format(".type = {}, .function = {}, .a = {}, .b = {}{}", onednn_type(op->type), binary_text(op->fn),
                     list(a), list(b), op->same ? ", .same = true" : "") +
         post_text(op->post, 0, all_operands(op->post, dims_of(y), 0));
}

std::optional<std::string> onednn_attention_row(const Layer& layer) {
  const auto* op = std::get_if<op::Attention>(&layer);
  if (op == nullptr) return std::nullopt;
  if (!op->beyond_added_mask().empty()) refuse_onednn(std::string(op->beyond_added_mask()));
  if (op->q[1] % op->k[1] != 0) refuse_onednn("attention with such a number of heads");
  const auto composed = detail::ComposedAttention::of(*op);
  const auto operand = [](const char* name, const detail::ProductOperand& of) {
    return fmt::format(", .{} = {{{}, {}}}", name, list(of.dims), list(of.strides));
  };
  std::string text = fmt::format(".type = {}", onednn_type(op->type)) + operand("q", composed.q) +
                     operand("k", composed.k) + operand("v", composed.v) + operand("y", composed.y) +
                     ", .scores = " + list(composed.scores);
  if (!composed.mask.empty()) text += ", .mask = " + list(composed.mask);
  if (!composed.bounds.empty())
    text += fmt::format(", .bounds = {}, .from = {}, .to = {}", list(composed.bounds), composed.from, composed.to);
  return text;
}

std::optional<std::string> onednn_recurrent_row(const Layer& layer) {
  const auto* op = std::get_if<op::Recurrent>(&layer);
  if (op == nullptr) return std::nullopt;
  if (!op->rare_part().empty()) refuse_onednn("a recurrence with " + std::string(op->rare_part()));
  if (op->type != DataType::f32) refuse_onednn("a recurrence in other types than f32");
  const char* cell = op->cell == op::Cell::lstm  ? "lstm"
                     : op->cell == op::Cell::rnn ? "rnn"
                     : op->linear_before_reset   ? "gru_linear_before_reset"
                                                 : "gru";
  return fmt::format(
      ".type = Type::f32, .cell = Cell::{}, .steps = {}, .batch = {}, .inputs = {}, .hidden = {}, .directions = {}{}{}",
      cell, op->x[0], op->x[1], op->x[2], op->hidden, op->directions, op->reverse ? ", .reverse = true" : "",
      op->initial_state ? ", .initial_state = true" : "");
}

std::optional<std::string> onednn_reduction_row(const Layer& layer) {
  const auto* op = std::get_if<op::Reduce>(&layer);
  if (op == nullptr) return std::nullopt;
  Dims x = dims_of(op->x), y = x;
  for (const auto axis : op->axes) y[static_cast<std::size_t>(axis)] = 1;
  if (x == y) refuse_onednn("a reduction of nothing");
  // Merges adjacent dimensions that are all reduced or all kept.
  for (std::size_t i = 0; i + 1 < x.size();) {
    if ((y[i] == x[i]) != (y[i + 1] == x[i + 1]) && x[i] != 1 && x[i + 1] != 1) {
      ++i;
      continue;
    }
    x[i + 1] *= x[i];
    y[i + 1] *= y[i];
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(i));
    y.erase(y.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto text = [&](const char* function) {
    return fmt::format(".type = {}, .function = dnnl::algorithm::reduction_{}, .x = {}, .y = {}", onednn_type(op->type),
                       function, list(x), list(y));
  };
  switch (op->fn) {
    case op::ReduceFn::mean: return text("mean");
    case op::ReduceFn::sum: return text("sum");
    case op::ReduceFn::max:
    case op::ReduceFn::min:
      if (is_float(op->type)) refuse_onednn("infinities in a maximum or minimum");
      return text(op->fn == op::ReduceFn::max ? "max" : "min");
    case op::ReduceFn::prod: return text("mul");
    default: refuse_onednn("the reduction " + std::string(detail::enum_name(op->fn)));
  }
}

}  // namespace benanza::codegen
