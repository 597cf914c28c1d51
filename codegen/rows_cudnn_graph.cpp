// SPDX-License-Identifier: Apache-2.0
// Rows of cuDNN's graph API.
#include "standalone.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/quantization.hpp>
#include <benanza/model/unit_height.hpp>

#include <fmt/format.h>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_graph(const std::string& what) { refuse_row("cuDNN's graph API", what); }

std::string graph_type(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return "CUDNN_DATA_FLOAT";
    case DataType::f16: return "CUDNN_DATA_HALF";
    case DataType::bf16: return "CUDNN_DATA_BFLOAT16";
    case DataType::f8e4m3: return "CUDNN_DATA_FP8_E4M3";
    case DataType::f8e5m2: return "CUDNN_DATA_FP8_E5M2";
    case DataType::i8: return "CUDNN_DATA_INT8";
    case DataType::i32: return "CUDNN_DATA_INT32";
    default: refuse_graph("type " + std::string(name(type)));
  }
}

std::string pointwise(const PostOp& step) {
  const auto mode = [](const char* name) { return fmt::format(".mode = CUDNN_POINTWISE_{}", name); };
  switch (step.fn) {
    case ElementwiseFn::add: return mode("ADD");
    case ElementwiseFn::sub: return mode("SUB");
    case ElementwiseFn::mul: return mode("MUL");
    case ElementwiseFn::div: return mode("DIV");
    case ElementwiseFn::max: return mode("MAX");
    case ElementwiseFn::min: return mode("MIN");
    case ElementwiseFn::relu: return mode("RELU_FWD");
    case ElementwiseFn::leaky_relu: return mode("RELU_FWD") + fmt::format(", .slope = {}", float_text(step.alpha));
    case ElementwiseFn::clip:
      if (step.alpha != 0) refuse_graph(step_name(step));
      return mode("RELU_FWD") + fmt::format(", .clip = {}", float_text(step.beta));
    case ElementwiseFn::sigmoid: return mode("SIGMOID_FWD");
    case ElementwiseFn::tanh: return mode("TANH_FWD");
    case ElementwiseFn::elu: return mode("ELU_FWD") + fmt::format(", .alpha = {}", float_text(step.alpha));
    case ElementwiseFn::gelu: return mode("GELU_FWD");
    case ElementwiseFn::gelu_tanh: return mode("GELU_APPROX_TANH_FWD");
    case ElementwiseFn::softplus: return mode("SOFTPLUS_FWD");
    case ElementwiseFn::swish: return mode("SWISH_FWD") + fmt::format(", .alpha = {}", float_text(step.alpha));
    default: refuse_graph(step_name(step));
  }
}

Dims packed(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// An operand without strides is in the layout of its convolution.
std::string operand(const char* name, const Dims& dims, const Dims& strides, bool weights) {
  return fmt::format(", .{} = {{.dims = {}{}{}}}", name, list(dims),
                     strides.empty() ? "" : ", .strides = " + list(strides), weights ? ", .weights = true" : "");
}

template <class Op>
std::string graph_post(const Op& op, const Dims& y, std::size_t channel_axis) {
  const auto inputs = op.operands().inputs;
  std::string text;
  std::size_t number = 2;  // after the operands of the product
  for (const auto& step : op.post) {
    text += (text.empty() ? "{" : ", {") + pointwise(step);
    if (is_binary(step.fn)) {
      text += ", .operand = " + list(operand_dims(step, y, channel_axis));
      if (step.swapped) text += ", .swapped = true";
      if (step.channel) text += ", .weights = true";
      text += ", .type = " + graph_type(inputs.at(number++).type);
    }
    text += '}';
  }
  const double rescale = quantization(Layer(op)).rescale;
  return (text.empty() ? "" : ", .post = {" + text + "}") + (rescale == 1 ? "" : ", .rescale = " + float_text(rescale));
}

template <class Op>
void check_types(const Op& op, DataType second) {
  const DataType y = op.y_type.value_or(op.type);
  if (second != op.type || (y != op.type && !(op.type == DataType::i8 && y == DataType::i32)))
    refuse_graph("operands and a result of such types");
  if (quantization(Layer(op)).x_zero != 0 || quantization(Layer(op)).w_zero != 0)
    refuse_graph("zero points other than 0");
}

std::string head(const char* kind, DataType type, DataType y, bool multiplies = true) {
  return fmt::format(".kind = Kind::{}, .type = {}, .y_type = {}{}", kind, graph_type(type), graph_type(y),
                     type == DataType::f32 && multiplies ? ", .strict = true" : "");
}

std::string row(const op::Conv& given) {
  const op::Conv op = detail::with_unit_height(given);
  check_types(op, op.w_type.value_or(op.type));
  const std::size_t spatial = op.x.size() - 2;
  const Dims y = dims_of(op.y());
  return head("convolution", op.type, op.y_type.value_or(op.type)) + operand("a", dims_of(op.x), {}, false) +
         operand("b", dims_of(op.w), {}, op.w_constant) +
         fmt::format(", .pads_begin = {}, .pads_end = {}, .steps = {}, .dilations = {}",
                     list(entries(op.pads, 0, spatial, 0)), list(entries(op.pads, spatial, spatial, 0)),
                     list(entries(op.strides, 0, spatial, 1)), list(entries(op.dilations, 0, spatial, 1))) +
         graph_post(op, y, 1) + operand("y", y, {}, false);
}

std::string row(const op::MatMul& op) {
  check_types(op, op.b_type.value_or(op.type));
  const StridedProduct p = strided_product(op, "cuDNN's graph API");
  for (const auto& step : op.post)  // operands that broadcast along some of several batch dimensions have no flat form
    if (op.y().size() > 3 && !step.shape.empty()) refuse_graph(step_name(step));
  const Dims y{p.batch, p.m, p.n}, a{p.stride_a == 0 ? 1 : p.batch, p.m, p.k},
      b{p.stride_b == 0 ? 1 : p.batch, p.k, p.n};
  const bool along_k = op.trans_b || bits(op.type) == 8;  // the layout in which tensor cores take 8-bit operands
  return head("product", op.type, op.y_type.value_or(op.type)) +
         operand("a", a, op.trans_a ? Dims{p.m * p.k, 1, p.m} : packed(a), op.a_constant) +
         operand("b", b, along_k ? Dims{p.k * p.n, 1, p.k} : packed(b), op.b_constant) + graph_post(op, y, 2) +
         operand("y", y, packed(y), false);
}

std::string row(const op::LayerNorm& op) {
  if (!op.scale || (!op.rms && !op.bias)) refuse_graph("a norm without scale or bias");
  if (op.residual != op::Residual::none) refuse_graph("a norm of a sum");
  const Dims x{op.x[0], op.x[1], 1, 1}, channels{1, op.x[1], 1, 1};
  return head(op.rms ? "rms_norm" : "layer_norm", op.type, op.type, false) + operand("a", x, packed(x), false) +
         operand("b", channels, packed(channels), true) +
         (op.rms ? "" : operand("c", channels, packed(channels), true)) + operand("y", x, packed(x), false);
}

}  // namespace

std::optional<std::string> cudnn_graph_row(const Layer& layer) {
  return std::visit(
      [](const auto& op) -> std::optional<std::string> {
        if constexpr (requires { row(op); }) return row(op);
        else return std::nullopt;
      },
      layer);
}

std::optional<std::string> cudnn_attention_row(const Layer& layer) {
  const auto* op = std::get_if<op::Attention>(&layer);
  if (op == nullptr) return std::nullopt;
  if (bits(op->type) != 16) refuse_graph("attention in other types than f16 and bf16");
  if (!op->beyond_added_mask().empty()) refuse_graph(std::string(op->beyond_added_mask()));
  if (!op->starts_at_first_key()) refuse_graph("attention that does not start at the first key");
  const auto lying = [](const char* name, const TensorShape& s, bool tokens_first) {
    return operand(name, dims_of(s), tokens_first ? Dims{s[1] * s[2] * s[3], s[3], s[1] * s[3], 1} : packed(dims_of(s)),
                   false);
  };
  std::string text = fmt::format(".type = fe::DataType_t::{}", op->type == DataType::f16 ? "HALF" : "BFLOAT16") +
                     lying("q", op->q, op->q_tokens_first) + lying("k", op->k, op->k_tokens_first) +
                     lying("v", op->v, op->v_tokens_first) + lying("y", op->y(), op->y_tokens_first);
  if (!op->mask.empty()) {
    Dims mask(4 - op->mask.size(), 1);
    mask.insert(mask.end(), op->mask.begin(), op->mask.end());
    text += operand("mask", mask, packed(mask), false);
  }
  return text + (op->causal ? ", .causal = true" : "");
}

}  // namespace benanza::codegen
