// SPDX-License-Identifier: Apache-2.0
// Rows of cuDNN's legacy calls, with the problem in cuDNN's terms.
#include "standalone.hpp"
#include <benanza/base/detail/field_text.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/unit_height.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_cudnn(const std::string& what) { refuse_row("cuDNN", what); }

/// The types in which a type is stored, summed and multiplied.
std::string cudnn_arithmetic(DataType type) {
  const auto text = [](const char* stored, const char* sums, const char* math) {
    return fmt::format(".type = CUDNN_DATA_{}, .sums = CUDNN_DATA_{}, .math = CUDNN_{}", stored, sums, math);
  };
  switch (type) {
    case DataType::f32: return text("FLOAT", "FLOAT", "FMA_MATH");
    case DataType::tf32: return text("FLOAT", "FLOAT", "TENSOR_OP_MATH");
    case DataType::f16: return text("HALF", "FLOAT", "TENSOR_OP_MATH");
    case DataType::bf16: return text("BFLOAT16", "FLOAT", "TENSOR_OP_MATH");
    case DataType::f64: return text("DOUBLE", "DOUBLE", "FMA_MATH");
    default: refuse_cudnn("type " + std::string(name(type)));
  }
}

std::string cudnn_stored(DataType type) {
  const std::string text = cudnn_arithmetic(type);
  return text.substr(0, text.find(','));
}

std::string cudnn_activation(const PostOp& step) {
  const auto mode = [&](const char* name, double coefficient) {
    return fmt::format(".mode = CUDNN_ACTIVATION_{}{}", name,
                       coefficient == 0 ? "" : fmt::format(", .coefficient = {}", coefficient));
  };
  switch (step.fn) {
    case ElementwiseFn::relu: return mode("RELU", 0);
    case ElementwiseFn::sigmoid: return mode("SIGMOID", 0);
    case ElementwiseFn::tanh: return mode("TANH", 0);
    case ElementwiseFn::elu: return mode("ELU", step.alpha);
    case ElementwiseFn::swish: return mode("SWISH", step.alpha);
    case ElementwiseFn::clip:
      if (step.alpha == 0) return mode("CLIPPED_RELU", step.beta);
      [[fallthrough]];
    default: refuse_cudnn(step_name(step));
  }
}

std::string cudnn_step(const PostOp& step, const Dims& y, std::size_t channel_axis) {
  if (!is_binary(step.fn)) return cudnn_activation(step);
  const char* op = step.fn == ElementwiseFn::add || step.fn == ElementwiseFn::sub ? "ADD"
                   : step.fn == ElementwiseFn::mul                                ? "MUL"
                   : step.fn == ElementwiseFn::min                                ? "MIN"
                   : step.fn == ElementwiseFn::max                                ? "MAX"
                                                                                  : nullptr;
  if (op == nullptr) refuse_cudnn(step_name(step));
  std::string text =
      fmt::format(".op = CUDNN_OP_TENSOR_{}, .operand = {}", op, list(operand_dims(step, y, channel_axis)));
  if (step.fn == ElementwiseFn::sub) text += step.swapped ? ", .of_y = -1" : ", .of_other = -1";
  return text + (step.channel ? ", .weights = true" : "");
}

std::string cudnn_post(const Epilogue& post, const Dims& y, std::size_t channel_axis) {
  std::string text;
  for (const auto& step : post) text += (text.empty() ? "{" : ", {") + cudnn_step(step, y, channel_axis) + "}";
  return text.empty() ? "" : ", .post = {" + text + "}";
}

/// Whether one call can compute it: a bias, then optionally the addition of a tensor of the result's shape, then
/// optionally an activation.
bool fuses(const Epilogue& post) {
  if (!starts_with_bias(post)) return false;
  std::size_t at = 1;
  if (at < post.size() && post[at].fn == ElementwiseFn::add && !post[at].channel && post[at].shape.empty()) ++at;
  if (at < post.size() && !is_binary(post[at].fn)) ++at;
  return at == post.size();
}

/// Pads, strides, dilations and groups.
template <class Convolution>
std::string window_text(const Convolution& op) {
  const std::size_t spatial = op.x.size() - 2;
  if (spatial < 2 || spatial > 3) refuse_cudnn("a convolution of other than 1 to 3 dimensions");
  const Dims pads = entries(op.pads, 0, spatial, 0);
  if (pads != entries(op.pads, spatial, spatial, 0)) refuse_cudnn("pads that differ at begin and end");
  if (std::any_of(pads.begin(), pads.end(), [](auto pad) { return pad < 0; })) refuse_cudnn("negative pads");
  return fmt::format(", .pads = {}, .strides = {}, .dilations = {}{}", list(pads),
                     list(entries(op.strides, 0, spatial, 1)), list(entries(op.dilations, 0, spatial, 1)),
                     op.group == 1 ? "" : fmt::format(", .groups = {}", op.group));
}

}  // namespace

std::optional<std::string> cudnn_convolution_row(const Layer& layer) {
  const auto* given = std::get_if<op::Conv>(&layer);
  if (given == nullptr) return std::nullopt;
  const op::Conv op = detail::with_unit_height(*given);
  if (op.w_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    refuse_cudnn("a quantised convolution");
  const Dims y = dims_of(op.y());
  return cudnn_arithmetic(op.type) + fmt::format(", .x = {}, .w = {}, .y = {}", list(op.x), list(op.w), list(y)) +
         window_text(op) + (op.w_constant ? "" : ", .constant_weights = false") + cudnn_post(op.post, y, 1) +
         (fuses(op.post) ? ", .fuses = true" : "");
}

std::optional<std::string> cudnn_backward_row(const Layer& layer) {
  if (const auto* given = std::get_if<op::ConvGradient>(&layer)) {
    const op::ConvGradient op = detail::with_unit_height(*given);
    return cudnn_arithmetic(op.type) +
           fmt::format(", .x = {}, .w = {}, .y = {}", list(op.x), list(op.w), list(op.y())) + window_text(op) +
           (op.of == op::ConvGradientOf::data ? "" : ", .by_weights = true");
  }
  if (const auto* given = std::get_if<op::ConvTranspose>(&layer)) {
    const op::ConvTranspose op = detail::with_unit_height(*given);
    // It is the gradient of a convolution that reads its result and returns its operand. The weights have that
    // convolution's layout.
    const Dims y = dims_of(op.y());
    return cudnn_arithmetic(op.type) + fmt::format(", .x = {}, .w = {}, .y = {}", list(y), list(op.w), list(op.x)) +
           window_text(op) + (op.w_constant ? ", .constant_weights = true" : "") + cudnn_post(op.post, y, 1);
  }
  return std::nullopt;
}

std::optional<std::string> cudnn_pooling_row(const Layer& layer) {
  const auto* op = std::get_if<op::Pool>(&layer);
  if (op == nullptr) return std::nullopt;
  const std::size_t spatial = op->x.size() - 2;
  const Dims pads = entries(op->pads, 0, spatial, 0);
  const bool dilated = std::any_of(op->dilations.begin(), op->dilations.end(), [](auto d) { return d != 1; });
  if (spatial > 3 || dilated || op->indices || op->mode == op::PoolMode::lp || !op->ceil_pads.empty() ||
      pads != entries(op->pads, spatial, spatial, 0))
    refuse_cudnn("pooling with dilation, indices, a norm or pads that differ at begin and end");
  Dims x = dims_of(op->x), y = dims_of(op->y()), kernel = dims_of(op->kernel), padding = pads,
       strides = entries(op->strides, 0, spatial, 1);
  if (spatial == 1) {
    for (Dims* dims : {&x, &y, &kernel, &strides}) dims->push_back(1);
    padding.push_back(0);
  }
  return cudnn_stored(op->type) +
         fmt::format(", .average = {}{}, .x = {}, .y = {}, .kernel = {}, .pads = {}, .strides = {}",
                     truth(op->mode != op::PoolMode::max), op->include_pad ? ", .counts_padding = true" : "", list(x),
                     list(y), list(kernel), list(padding), list(strides));
}

std::optional<std::string> cudnn_normalization_row(const Layer& layer) {
  if (const auto* op = std::get_if<op::BatchNorm>(&layer)) {
    const Dims x{op->x[0], op->x[1], op->x[2], 1};
    Epilogue post;
    for (const PostOp& step : op->post) {
      if (is_binary(step.fn) && !step.channel && !step.shape.empty()) refuse_cudnn(step_name(step));
      post.push_back(step);
    }
    return cudnn_stored(op->type) + ", .x = " + list(x) + cudnn_post(post, x, 1);
  }
  if (const auto* op = std::get_if<op::Lrn>(&layer)) {
    if (op->size > 16) refuse_cudnn("local response normalisation over more than 16 channels");
    return cudnn_stored(op->type) + fmt::format(", .x = {}, .size = {}, .beta = {}",
                                                list(Dims{op->x[0], op->x[1], op->x[2], 1}), op->size, op->beta);
  }
  return std::nullopt;
}

std::optional<std::string> cudnn_softmax_row(const Layer& layer) {
  const auto* op = std::get_if<op::Softmax>(&layer);
  if (op == nullptr) return std::nullopt;
  return cudnn_stored(op->type) + ", .x = " + list(Dims{op->x[0], op->x[1], op->x[2], 1}) +
         (op->log ? ", .log = true" : "");
}

std::optional<std::string> cudnn_activation_row(const Layer& layer) {
  Dims y;
  std::string steps;
  const auto append = [&](const PostOp& step, const std::string& text) {
    if (is_binary(step.fn) && !step.channel && !step.shape.empty() && y.size() > 5)
      refuse_cudnn("more than 5 dimensions");
    steps += (steps.empty() ? "{" : ", {") + text + "}";
  };
  const Epilogue* post = epilogue(layer);
  if (const auto* op = std::get_if<op::Unary>(&layer)) {
    // If elements are independent of each other, any shape with the same number of elements will do.
    y = op->post.empty() ? Dims{element_count(op->x), 1, 1, 1} : dims_of(op->x);
    const PostOp first(op->fn, op->alpha, op->beta);
    append(first, cudnn_activation(first));
  } else if (const auto* binary = std::get_if<op::Binary>(&layer)) {
    y = dims_of(binary->y());
    if (binary->scaled) refuse_cudnn("functions of two quantised tensors");
    const bool swapped = !(binary->a == binary->y());  // the first operand has the result's shape
    if (swapped && !(binary->b == binary->y())) refuse_cudnn("two operands that broadcast");
    PostOp first(binary->fn, swapped ? binary->a : binary->b, swapped);
    append(first, cudnn_step(first, y, 0));
  } else {
    return std::nullopt;
  }
  if (y.size() > 5) refuse_cudnn("more than 5 dimensions");
  for (const auto& step : *post) append(step, cudnn_step(step, y, 0));
  return cudnn_stored(type(layer)) + ", .x = " + list(y) + ", .steps = {" + steps + "}";
}

std::optional<std::string> cudnn_recurrent_row(const Layer& layer) {
  const auto* op = std::get_if<op::Recurrent>(&layer);
  if (op == nullptr) return std::nullopt;
  if (!op->rare_part().empty()) refuse_cudnn("a recurrence with " + std::string(op->rare_part()));
  if (op->reverse) refuse_cudnn("a recurrence from the end alone");
  if (op->cell == op::Cell::gru && !op->linear_before_reset) refuse_cudnn("a GRU that resets before the product");
  const char* cell = op->cell == op::Cell::lstm  ? "CUDNN_LSTM"
                     : op->cell == op::Cell::gru ? "CUDNN_GRU"
                                                 : "CUDNN_RNN_TANH";
  return cudnn_arithmetic(op->type) +
         fmt::format(", .cell = {}, .steps = {}, .batch = {}, .inputs = {}, .hidden = {}, .directions = {}{}{}", cell,
                     op->x[0], op->x[1], op->x[2], op->hidden, op->directions, op->bias ? ", .bias = true" : "",
                     op->initial_state ? ", .initial_state = true" : "");
}

std::optional<std::string> cudnn_reduction_row(const Layer& layer) {
  const auto* op = std::get_if<op::Reduce>(&layer);
  if (op == nullptr) return std::nullopt;
  Dims x = dims_of(op->x), y = x;
  for (const auto axis : op->axes) y[static_cast<std::size_t>(axis)] = 1;
  const auto text = [&](const char* function) {
    const std::string types = cudnn_arithmetic(op->type);
    return types.substr(0, types.rfind(',')) +
           fmt::format(", .function = CUDNN_REDUCE_TENSOR_{}, .x = {}, .y = {}", function, list(x), list(y));
  };
  switch (op->fn) {
    case op::ReduceFn::mean: return text("AVG");
    case op::ReduceFn::sum: return text("ADD");
    case op::ReduceFn::max: return text("MAX");
    case op::ReduceFn::min: return text("MIN");
    case op::ReduceFn::prod: return text("MUL");
    case op::ReduceFn::l1: return text("NORM1");
    case op::ReduceFn::l2: return text("NORM2");
    default: refuse_cudnn("the reduction " + std::string(detail::enum_name(op->fn)));
  }
}

}  // namespace benanza::codegen
