// SPDX-License-Identifier: Apache-2.0
// Reproducers by cuDNN's own calls: the legacy ones, of a forward algorithm by its name, and the graph API through
// cudnn-frontend, of a plan by its tag. They ask as src/backend/cudnn does.
#include "emit_reproducer.hpp"
#include "reproducer_templates.hpp"
#include "writer.hpp"
#include <benanza/detail/window.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/quantization.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_cudnn(const std::string& what) { refuse_reproducer("cuDNN", what); }

[[noreturn]] void refuse_step(const PostOp& step) {
  refuse_cudnn("the step " + std::string(detail::enum_name(step.fn)) + " of an epilogue");
}

bool is_channels_last(const PlanName& plan) {
  const auto found = plan.keys.find("layout");
  return found != plan.keys.end() && found->second == "nhwc";
}

void check_types(const op::Conv& op) {
  if (op.w_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    refuse_cudnn("a quantised convolution");
}

Dims dims_of(const TensorShape& shape) { return {shape.begin(), shape.end()}; }

/// `count` entries of an optional list from `first` on.
Dims entries(const TensorShape& list, std::size_t first, std::size_t count, std::int64_t otherwise) {
  Dims result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(detail::at_or(list, first + i, otherwise));
  return result;
}

struct Legacy {
  const char *type, *math;
};
Legacy legacy(DataType type) {
  switch (type) {
    case DataType::f32: return {"CUDNN_DATA_FLOAT", "CUDNN_FMA_MATH"};
    case DataType::tf32: return {"CUDNN_DATA_FLOAT", "CUDNN_TENSOR_OP_MATH"};
    case DataType::f16: return {"CUDNN_DATA_HALF", "CUDNN_TENSOR_OP_MATH"};
    case DataType::bf16: return {"CUDNN_DATA_BFLOAT16", "CUDNN_TENSOR_OP_MATH"};
    default: refuse_cudnn("type " + std::string(name(type)));
  }
}

/// The arguments of `activation` in the file.
std::string activation(const PostOp& step) {
  switch (step.fn) {
    case ElementwiseFn::relu: return "CUDNN_ACTIVATION_RELU, 0";
    case ElementwiseFn::sigmoid: return "CUDNN_ACTIVATION_SIGMOID, 0";
    case ElementwiseFn::tanh: return "CUDNN_ACTIVATION_TANH, 0";
    case ElementwiseFn::elu: return "CUDNN_ACTIVATION_ELU, " + float_text(step.alpha);
    case ElementwiseFn::swish: return "CUDNN_ACTIVATION_SWISH, 0, " + float_text(step.alpha);
    case ElementwiseFn::clip:
      if (step.alpha == 0) return "CUDNN_ACTIVATION_CLIPPED_RELU, " + float_text(step.beta);
      [[fallthrough]];
    default: refuse_step(step);
  }
}

struct Calls {
  std::string operands{};  ///< statements that make what the calls use
  std::string calls{};
};

/// activation(convolution + z + bias) in one call.
Calls fused_call(const Epilogue& post, const Dims& y) {
  if (!starts_with_bias(post)) refuse_cudnn("a fused call without a bias");
  std::size_t at = 1;
  const bool has_z =
      at < post.size() && post[at].fn == ElementwiseFn::add && !post[at].channel && post[at].shape.empty();
  if (has_z) ++at;
  const std::string mode = at < post.size() ? activation(post[at++]) : "CUDNN_ACTIVATION_IDENTITY, 0";
  if (at < post.size()) refuse_step(post[at]);
  return {.operands =
              fmt::format("  const Sizes b = {};\n"
                          "  const auto b_tensor = tensor(b);\n"
                          "  void* const b_data = filled(count(b));\n"
                          "  void* const z_data = {};\n"
                          "  const float of_z = {};\n"
                          "  const auto function = activation({});\n",
                          list(operand_dims(bias, y, 1)), has_z ? "filled(count(y))" : "y_data", has_z ? 1 : 0, mode),
          .calls =
              "    CHECK_CUDNN(cudnnConvolutionBiasActivationForward(handle, &one, x_tensor, x_data, w_filter, "
              "w_data, how, algorithm,\n"
              "                                                      workspace, workspace_bytes, &of_z, y_tensor, "
              "z_data, b_tensor, b_data,\n"
              "                                                      function, y_tensor, y_data));\n"};
}

/// The convolution and each step of its epilogue by a call of its own.
Calls single_calls(const Epilogue& post, const Dims& y) {
  Calls result{.calls =
                   "    CHECK_CUDNN(cudnnConvolutionForward(handle, &one, x_tensor, x_data, w_filter, w_data, "
                   "how, algorithm, workspace,\n"
                   "                                        workspace_bytes, &zero, y_tensor, y_data));\n"};
  for (std::size_t i = 0; i < post.size(); ++i) {
    const PostOp& step = post[i];
    if (!is_binary(step.fn)) {
      result.operands += fmt::format("  const auto step_{} = activation({});\n", i, activation(step));
      result.calls += fmt::format(
          "    CHECK_CUDNN(cudnnActivationForward(handle, step_{}, &one, y_tensor, y_data, &zero, y_tensor, "
          "y_data));\n",
          i);
      continue;
    }
    const char* op = step.fn == ElementwiseFn::add || step.fn == ElementwiseFn::sub ? "ADD"
                     : step.fn == ElementwiseFn::mul                                ? "MUL"
                     : step.fn == ElementwiseFn::min                                ? "MIN"
                     : step.fn == ElementwiseFn::max                                ? "MAX"
                                                                                    : nullptr;
    if (op == nullptr) refuse_step(step);
    const bool subtracts = step.fn == ElementwiseFn::sub;
    result.operands += fmt::format(
        "  const auto step_{0} = op_tensor(CUDNN_OP_TENSOR_{1});\n"
        "  const Sizes sizes_{0} = {2};\n"
        "  const auto tensor_{0} = tensor(sizes_{0});\n"
        "  void* const data_{0} = filled(count(sizes_{0}));\n"
        "  const float of_y_{0} = {3}, of_other_{0} = {4};\n",
        i, op, list(operand_dims(step, y, 1)), subtracts && step.swapped ? -1 : 1, subtracts && !step.swapped ? -1 : 1);
    result.calls += fmt::format(
        "    CHECK_CUDNN(cudnnOpTensor(handle, step_{0}, &of_y_{0}, y_tensor, y_data, &of_other_{0}, tensor_{0}, "
        "data_{0}, &zero, y_tensor,\n"
        "                              y_data));\n",
        i);
  }
  return result;
}

std::string legacy_layer(const op::Conv& op, const PlanName& plan) {
  check_types(op);
  constexpr std::array algorithms{"implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
                                  "winograd",      "winograd_nonfused"};
  if (std::find(algorithms.begin(), algorithms.end(), plan.algorithm) == algorithms.end())
    refuse_cudnn("plan '" + plan.algorithm + "': expected graph:TAG or a forward algorithm");
  const std::size_t spatial = op.x.size() - 2;
  if (spatial < 2 || spatial > 3) refuse_cudnn("a convolution of other than 2 or 3 dimensions");
  const Dims pads = entries(op.pads, 0, spatial, 0);
  if (pads != entries(op.pads, spatial, spatial, 0)) refuse_cudnn("pads that differ at begin and end");
  const Dims y = dims_of(op.y());
  const auto how = plan.keys.find("epilogue");
  const Calls calls =
      how != plan.keys.end() && how->second == "fused" ? fused_call(op.post, y) : single_calls(op.post, y);
  std::string algorithm = plan.algorithm;
  std::transform(algorithm.begin(), algorithm.end(), algorithm.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const Legacy types = legacy(op.type);
  return filled(reproducer_cudnn, {{"type", types.type},
                                   {"math", types.math},
                                   {"algorithm", algorithm},
                                   {"channels_last", is_channels_last(plan) ? "true" : "false"},
                                   {"x", list(dims_of(op.x))},
                                   {"w", list(dims_of(op.w))},
                                   {"y", list(y)},
                                   {"pads", list(pads)},
                                   {"strides", list(entries(op.strides, 0, spatial, 1))},
                                   {"dilations", list(entries(op.dilations, 0, spatial, 1))},
                                   {"groups", std::to_string(op.group)},
                                   {"operands", calls.operands},
                                   {"calls", calls.calls}});
}

const char* graph_type(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return "FLOAT";
    case DataType::f16: return "HALF";
    case DataType::bf16: return "BFLOAT16";
    case DataType::f8e4m3: return "FP8_E4M3";
    case DataType::f8e5m2: return "FP8_E5M2";
    case DataType::i8: return "INT8";
    case DataType::i32: return "INT32";
    default: refuse_cudnn("type " + std::string(name(type)));
  }
}

/// The attributes of one step in a graph.
std::string pointwise(const PostOp& step) {
  const auto mode = [](const char* name) { return fmt::format("step(fe::PointwiseMode_t::{})", name); };
  switch (step.fn) {
    case ElementwiseFn::add: return mode("ADD");
    case ElementwiseFn::sub: return mode("SUB");
    case ElementwiseFn::mul: return mode("MUL");
    case ElementwiseFn::div: return mode("DIV");
    case ElementwiseFn::max: return mode("MAX");
    case ElementwiseFn::min: return mode("MIN");
    case ElementwiseFn::relu: return mode("RELU_FWD");
    case ElementwiseFn::leaky_relu:
      return mode("RELU_FWD") + fmt::format(".set_relu_lower_clip_slope({})", float_text(step.alpha));
    case ElementwiseFn::clip:
      if (step.alpha != 0) refuse_step(step);
      return mode("RELU_FWD") + fmt::format(".set_relu_upper_clip({})", float_text(step.beta));
    case ElementwiseFn::sigmoid: return mode("SIGMOID_FWD");
    case ElementwiseFn::tanh: return mode("TANH_FWD");
    case ElementwiseFn::elu: return mode("ELU_FWD") + fmt::format(".set_elu_alpha({})", float_text(step.alpha));
    case ElementwiseFn::gelu: return mode("GELU_FWD");
    case ElementwiseFn::gelu_tanh: return mode("GELU_APPROX_TANH_FWD");
    case ElementwiseFn::swish: return mode("SWISH_FWD") + fmt::format(".set_swish_beta({})", float_text(step.alpha));
    default: refuse_step(step);
  }
}

Dims packed_strides(const Dims& dims, bool channels_last) {
  Dims strides(dims.size(), 1);
  std::int64_t step = channels_last ? dims[1] : 1;
  for (std::size_t i = dims.size(); i-- > (channels_last ? 2U : 1U); step *= dims[i]) strides[i] = step;
  strides[0] = step;
  return strides;
}

std::string input(const Dims& dims, const Dims& strides) {
  return fmt::format("input({}, {})", list(dims), list(strides));
}

/// Part of an operator's attributes: integers are summed in integers.
const char* summed(DataType type) {
  return type == DataType::i8 ? ".set_compute_data_type(fe::DataType_t::INT32)" : "";
}

template <class Op>
void check_graph_types(const Op& op, DataType second) {
  const DataType y = op.y_type.value_or(op.type);
  if (second != op.type || (y != op.type && !(op.type == DataType::i8 && y == DataType::i32)))
    refuse_cudnn("operands and a result of such types");
  if (quantization(op).x_zero != 0 || quantization(op).w_zero != 0) refuse_cudnn("zero points other than 0");
}

/// Statements that draw the steps of a product's epilogue on `value`, and scale sums of integers: behind a bias that is
/// the first step, else before all steps.
template <class Op>
std::string drawn_epilogue(const Op& op, const Dims& y, std::size_t channel_axis, bool channels_last) {
  std::string text;
  const double rescale = quantization(op).rescale;
  const auto scale = [&] {
    if (rescale != 1)
      text += fmt::format("  value = graph.pointwise(value, graph.tensor({}), step(fe::PointwiseMode_t::MUL));\n",
                          float_text(rescale));
  };
  if (op.type == DataType::i8 && (!op.post.empty() || rescale != 1))
    text += fmt::format("  value->set_data_type(fe::DataType_t::INT32).set_dim({}).set_stride({});\n", list(y),
                        list(packed_strides(y, channels_last)));
  const bool bias_first = starts_with_bias(op.post);
  if (!bias_first) scale();
  const auto inputs = op.operands().inputs;
  std::size_t number = 2;  // behind the operands of the product
  for (const auto& step : op.post) {
    if (!is_binary(step.fn)) {
      text += fmt::format("  value = graph.pointwise(value, {});\n", pointwise(step));
      continue;
    }
    const Dims dims = operand_dims(step, y, channel_axis);
    std::string operand = input(dims, packed_strides(dims, channels_last));
    if (inputs.at(number++).type == DataType::i32) operand.insert(operand.size() - 1, ", fe::DataType_t::INT32");
    text += step.swapped ? fmt::format("  value = graph.pointwise({}, value, {});\n", operand, pointwise(step))
                         : fmt::format("  value = graph.pointwise(value, {}, {});\n", operand, pointwise(step));
    if (bias_first && &step == op.post.begin()) scale();
  }
  return text;
}

std::string graph_layer(const op::Conv& op, const PlanName& plan) {
  check_graph_types(op, op.w_type.value_or(op.type));
  const std::size_t spatial = op.x.size() - 2;
  const bool last = is_channels_last(plan);
  const Dims x = dims_of(op.x), w = dims_of(op.w), y = dims_of(op.y());
  std::string draw = fmt::format(
      "  value = graph.conv_fprop({},\n"
      "                           {},\n"
      "                           fe::graph::Conv_fprop_attributes()\n"
      "                               .set_pre_padding({})\n"
      "                               .set_post_padding({})\n"
      "                               .set_stride({})\n"
      "                               .set_dilation({}){});\n",
      "x", "w", list(entries(op.pads, 0, spatial, 0)), list(entries(op.pads, spatial, spatial, 0)),
      list(entries(op.strides, 0, spatial, 1)), list(entries(op.dilations, 0, spatial, 1)), summed(op.type));
  draw = fmt::format("  const Tensor x = {};\n  const Tensor w = {};\n", input(x, packed_strides(x, last)),
                     input(w, packed_strides(w, last))) +
         draw;
  if (!op.post.empty())
    draw += fmt::format("  value->set_dim({}).set_stride({});\n", list(y), list(packed_strides(y, last)));
  draw += drawn_epilogue(op, y, 1, last);
  return filled(reproducer_cudnn_graph, {{"plan", plan.algorithm.substr(std::string_view("graph:").size())},
                                         {"type", graph_type(op.type)},
                                         {"y_type", graph_type(op.y_type.value_or(op.type))},
                                         {"y_element", cuda_element(op.y_type.value_or(op.type))},
                                         {"draw", draw},
                                         {"y", list(y)},
                                         {"y_strides", list(packed_strides(y, last))}});
}

std::string graph_layer(const op::MatMul& op, const PlanName& plan) {
  check_graph_types(op, op.b_type.value_or(op.type));
  const std::int64_t batch = element_count(op.batch()), m = op.m(), n = op.n(), k = op.k();
  const auto matrices = [](const TensorShape& shape) {
    return element_count(shape) / (shape[shape.size() - 2] * shape[shape.size() - 1]);
  };
  const std::int64_t of_a = matrices(op.a), of_b = matrices(op.b);
  if ((of_a != 1 && of_a != batch) || (of_b != 1 && of_b != batch))
    refuse_cudnn("a batch of which an operand broadcasts along a part");
  for (const auto& step : op.post)
    if (op.y().size() > 3 && !step.shape.empty()) refuse_step(step);
  const Dims y{batch, m, n};
  const bool along_k = op.trans_b || bits(op.type) == 8;  // where tensor cores take operands of 8 bits
  std::string draw = fmt::format("  const Tensor a = {};\n  const Tensor b = {};\n",
                                 input({of_a, m, k}, op.trans_a ? Dims{m * k, 1, m} : Dims{m * k, k, 1}),
                                 input({of_b, k, n}, along_k ? Dims{k * n, 1, k} : Dims{k * n, n, 1})) +
                     fmt::format("  value = graph.matmul(a, b, fe::graph::Matmul_attributes(){});\n", summed(op.type)) +
                     drawn_epilogue(op, y, 2, false);
  return filled(reproducer_cudnn_graph, {{"plan", plan.algorithm.substr(std::string_view("graph:").size())},
                                         {"type", graph_type(op.type)},
                                         {"y_type", graph_type(op.y_type.value_or(op.type))},
                                         {"y_element", cuda_element(op.y_type.value_or(op.type))},
                                         {"draw", draw},
                                         {"y", list(y)},
                                         {"y_strides", list(packed_strides(y, false))}});
}

std::string legacy_layer(const op::MatMul&, const PlanName& plan) {
  refuse_cudnn("plan '" + plan.algorithm + "' of a matrix product: expected graph:TAG");
}
template <class Op>
std::string legacy_layer(const Op&, const PlanName&) {
  refuse_kind(Op::kind);
}
template <class Op>
std::string graph_layer(const Op&, const PlanName&) {
  refuse_kind(Op::kind);
}

}  // namespace

void emit_cudnn_reproducer(const Reproducer& reproducer, std::ostream& out) {
  const PlanName plan = parse_plan(reproducer.plan);
  if (plan.algorithm.starts_with("graph:")) {
    out << cuda_reproducer(
        reproducer, "-lcudnn -lnvrtc",
        "#include <benchmark/benchmark.h>\n#define CUDNN_FRONTEND_SKIP_JSON_LIB\n#include <cudnn_frontend.h>  // PyPI: "
        "nvidia-cudnn-frontend\n\n#include <cctype>\n#include <memory>\n#include <unordered_map>\n",
        std::visit([&](const auto& op) { return graph_layer(op, plan); }, reproducer.layer));
  } else {
    out << cuda_reproducer(reproducer, "-lcudnn", "#include <benchmark/benchmark.h>\n#include <cudnn.h>\n",
                           std::visit([&](const auto& op) { return legacy_layer(op, plan); }, reproducer.layer));
  }
}

}  // namespace benanza::codegen
