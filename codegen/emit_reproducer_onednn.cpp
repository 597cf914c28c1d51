// SPDX-License-Identifier: Apache-2.0
// Reproducers by oneDNN's own calls. They ask oneDNN as src/backend/onednn does: weights in the layout of the library's
// choice, source and result in the plan's, and of the implementations the one that the plan names.
#include "emit_reproducer.hpp"
#include "reproducer_templates.hpp"
#include "writer.hpp"
#include <benanza/detail/fold_leading.hpp>
#include <benanza/detail/window.hpp>
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/quantization.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

namespace benanza::codegen {

namespace {

/// What the file has to be told about a problem; the text around it is reproducer_onednn.cpp.txt.
struct OneDnnProblem {
  std::string constants{};   ///< sizes
  std::string post_ops{};    ///< statements that fill `post`
  std::string create{};      ///< what initialises the primitive descriptor
  std::string arguments{};   ///< statements that append to `arguments`
  std::string descriptor{};  ///< its type
  std::string scaling{};     ///< statements that tell `attributes` of scales and zero points
  std::string numbers{};     ///< statements that append them to `arguments`
};

[[noreturn]] void refuse_onednn(const std::string& what) { refuse_reproducer("oneDNN", what); }

std::string type_of(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::bf16:
    case DataType::f16:
    case DataType::u8: return std::string(name(type));
    case DataType::i8: return "s8";
    case DataType::i32: return "s32";
    default: refuse_onednn("type " + std::string(name(type)));
  }
}

/// Types of both operands and of the result.
struct Types {
  DataType src, wei, dst;
  [[nodiscard]] bool quantised() const { return is_8_bit(src); }
  [[nodiscard]] DataType bia() const { return quantised() ? DataType::f32 : dst; }
};
Types types_of(const op::Conv& op) { return {op.type, op.w_type.value_or(op.type), op.y_type.value_or(op.type)}; }
Types types_of(const op::MatMul& op) { return {op.type, op.b_type.value_or(op.type), op.y_type.value_or(op.type)}; }
template <class Op>
Types types_of(const Op&) {
  refuse_kind(Op::kind);
}

/// Scales and zero points as attributes, their values as arguments. `weights`: how many scales the weights have, along
/// the dimensions `mask` of them.
void add_scaling(OneDnnProblem& problem, const Types& types, const Quantization& numbers, std::int64_t weights,
                 int mask) {
  const auto scale = [&](const char* argument, int of, std::int64_t count, const std::string& value) {
    problem.scaling += fmt::format("  attributes.set_scales_mask({}, {});\n", argument, of);
    problem.numbers += fmt::format("  add_numbers(DNNL_ARG_ATTR_SCALES | {}, {}, {});\n", argument, count, value);
  };
  const auto zero = [&](const char* argument, double value) {
    if (value == 0) return;
    problem.scaling += fmt::format("  attributes.set_zero_points_mask({}, 0);\n", argument);
    problem.numbers += fmt::format("  add_numbers(DNNL_ARG_ATTR_ZERO_POINTS | {}, 1, {:.0f});\n", argument, value);
  };
  if (types.quantised() && types.dst != DataType::i32) {  // i32: the sums themselves
    scale("DNNL_ARG_SRC", 0, 1, "1.0f");
    scale("DNNL_ARG_WEIGHTS", mask, mask == 0 ? 1 : weights, float_text(numbers.rescale));
    if (is_8_bit(types.dst)) scale("DNNL_ARG_DST", 0, 1, "1.0f");
  }
  zero("DNNL_ARG_SRC", numbers.x_zero);
  zero("DNNL_ARG_WEIGHTS", numbers.w_zero);
  if (problem.numbers.empty()) return;
  problem.numbers =
      "  const auto add_numbers = [&](int argument, memory::dim count, auto value) {\n"
      "    constexpr bool whole = std::is_same_v<decltype(value), int>;\n"
      "    const auto type = whole ? memory::data_type::s32 : memory::data_type::f32;\n"
      "    memories.emplace_back(memory::desc({count}, type, memory::dims{1}), engine);\n"
      "    std::fill_n(static_cast<decltype(value)*>(memories.back().get_data_handle()), count, value);\n"
      "    arguments.push_back({argument, memories.back().get()});\n"
      "  };\n" +
      problem.numbers;
}

/// Tag of a layout that strides and blocks describe; any other layout is left to the library.
std::string tag_of(const PlanName& plan, const char* key) {
  const auto found = plan.keys.find(key);
  if (found == plan.keys.end()) return "plain";
  if (found->second.starts_with("opaque")) return "tag::any";
  return "tag::" + as_word(found->second);
}

struct Eltwise {
  ElementwiseFn fn;
  const char* algorithm;
  const char *alpha = nullptr, *beta = nullptr;  ///< nothing: the layer's own
};
constexpr Eltwise eltwise_list[] = {
    {ElementwiseFn::relu, "eltwise_relu", "0", "0"},
    {ElementwiseFn::leaky_relu, "eltwise_relu", nullptr, "0"},
    {ElementwiseFn::clip, "eltwise_clip"},
    {ElementwiseFn::elu, "eltwise_elu", nullptr, "0"},
    {ElementwiseFn::gelu, "eltwise_gelu_erf", "0", "0"},
    {ElementwiseFn::gelu_tanh, "eltwise_gelu_tanh", "0", "0"},
    {ElementwiseFn::sigmoid, "eltwise_logistic", "0", "0"},
    {ElementwiseFn::tanh, "eltwise_tanh", "0", "0"},
    {ElementwiseFn::hard_sigmoid, "eltwise_hardsigmoid"},
    {ElementwiseFn::hard_swish, "eltwise_hardswish", "1.0f / 6", "0.5f"},
    {ElementwiseFn::swish, "eltwise_swish", nullptr, "0"},
    {ElementwiseFn::mish, "eltwise_mish", "0", "0"},
};
constexpr std::pair<ElementwiseFn, const char*> binary_list[] = {
    {ElementwiseFn::add, "binary_add"}, {ElementwiseFn::mul, "binary_mul"}, {ElementwiseFn::sub, "binary_sub"},
    {ElementwiseFn::div, "binary_div"}, {ElementwiseFn::max, "binary_max"}, {ElementwiseFn::min, "binary_min"},
};

/// The steps behind a bias, which is an argument of the primitive. `operands`: dimensions of the binary steps, in
/// order.
void add_post_ops(OneDnnProblem& problem, const Epilogue& post, const std::vector<Dims>& operands, const Dims& y,
                  const std::string& y_desc) {
  std::size_t operand = 0;
  for (std::size_t i = 0; i < post.size(); ++i) {
    const auto& op = post[i];
    const std::string fn(detail::enum_name(op.fn));
    if (is_binary(op.fn)) {
      const Dims& dims = operands[operand++];
      if (i == 0 && op == bias) continue;
      const auto* found =
          std::find_if(std::begin(binary_list), std::end(binary_list), [&](const auto& e) { return e.first == op.fn; });
      const bool commutes = op.fn != ElementwiseFn::sub && op.fn != ElementwiseFn::div;
      if (found == std::end(binary_list) || (op.swapped && !commutes))
        refuse_onednn("the step " + fn + " of an epilogue");
      problem.post_ops += fmt::format("  post.append_binary(algorithm::{}, {});\n", found->second,
                                      dims == y ? y_desc : fmt::format("row_major({}, dst)", list(dims)));
      problem.arguments += fmt::format("  add(DNNL_ARG_ATTR_MULTIPLE_POST_OP({}) | DNNL_ARG_SRC_1, {});\n",
                                       i - (starts_with_bias(post) ? 1 : 0), list(dims));
    } else {
      const auto* found =
          std::find_if(std::begin(eltwise_list), std::end(eltwise_list), [&](const auto& e) { return e.fn == op.fn; });
      if (found == std::end(eltwise_list)) refuse_onednn("the step " + fn + " of an epilogue");
      problem.post_ops += fmt::format("  post.append_eltwise(algorithm::{}, {}, {});\n", found->algorithm,
                                      found->alpha ? found->alpha : float_text(op.alpha),
                                      found->beta ? found->beta : float_text(op.beta));
    }
  }
}

std::vector<Dims> all_operands(const Epilogue& post, const Dims& y, std::size_t channel_axis) {
  std::vector<Dims> result;
  for (const auto& op : post)
    if (is_binary(op.fn)) result.push_back(operand_dims(op, y, channel_axis));
  return result;
}

OneDnnProblem problem_of(const op::Conv& op, const PlanName& plan) {
  const TensorShape shape = op.y();
  const Dims x(op.x.begin(), op.x.end()), y(shape.begin(), shape.end());
  Dims w(op.w.begin(), op.w.end()), strides, dilations, begins, ends;
  if (op.group > 1) {
    w.front() /= op.group;
    w.insert(w.begin(), op.group);
  }
  const std::size_t spatial = x.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    strides.push_back(detail::at_or(op.strides, i, 1));
    dilations.push_back(detail::at_or(op.dilations, i, 1) - 1);
    begins.push_back(detail::at_or(op.pads, i, 0));
    ends.push_back(detail::at_or(op.pads, i + spatial, 0));
  }
  const auto described = [](const std::string& tag, const char* dims, const char* type) {
    return tag == "plain" ? fmt::format("row_major({}, {})", dims, type)
                          : fmt::format("memory::desc({}, {}, {})", dims, type, tag);
  };
  const std::string y_desc = described(tag_of(plan, "dst"), "y", "dst");
  OneDnnProblem problem{.descriptor = "convolution_forward::primitive_desc"};
  problem.constants = fmt::format(
      "const memory::dims x = {}, w = {}, y = {}{};\n"
      "const memory::dims strides = {}, dilations = {}, pads_begin = {}, pads_end = {};\n",
      list(x), list(w), list(y), starts_with_bias(op.post) ? fmt::format(", b = {{{}}}", y[1]) : "", list(strides),
      list(dilations), list(begins), list(ends));
  const bool winograd = plan.algorithm.find("wino") != std::string::npos;
  problem.create = fmt::format(
      "{{engine, prop_kind::forward_inference, algorithm::convolution_{},\n"
      "      {}, {}, {}, {},\n"
      "      strides, dilations, pads_begin, pads_end, attributes}}",
      winograd ? "winograd" : "direct", described(tag_of(plan, "src"), "x", "src"),
      op.w_constant ? "memory::desc(w, wei, tag::any)" : "row_major(w, wei)",
      starts_with_bias(op.post) ? "row_major(b, bia)" : "memory::desc()", y_desc);
  problem.arguments = "  add(DNNL_ARG_SRC, x);\n  add(DNNL_ARG_WEIGHTS, w);\n  add(DNNL_ARG_DST, y);\n";
  if (starts_with_bias(op.post)) problem.arguments += "  add(DNNL_ARG_BIAS, b);\n";
  add_post_ops(problem, op.post, all_operands(op.post, y, 1), y, y_desc);
  const int channels = op.group > 1 ? 3 : 1;  // groups and their channels, or channels
  add_scaling(problem, types_of(op), quantization(op), op.w[0], op.w_constant ? channels : 0);
  return problem;
}

OneDnnProblem problem_of(const op::MatMul& op, const PlanName& plan) {
  const TensorShape shape = op.y();
  Dims y(shape.begin(), shape.end());
  const auto padded = [&](const TensorShape& from) {
    Dims dims(y.size() - from.size(), 1);
    dims.insert(dims.end(), from.begin(), from.end());
    return dims;
  };
  Dims a = padded(op.a), b = padded(op.b);
  auto operands = all_operands(op.post, y, y.size() - 1);
  std::vector<Dims*> together{&y, &a, &b};
  for (auto& operand : operands) together.push_back(&operand);
  detail::fold_leading(together, 2);

  const bool inner = plan.algorithm.starts_with("inner_product:");
  const bool packed = plan.keys.contains("wei");
  const bool biased = starts_with_bias(op.post);
  const std::string a_desc = op.trans_a ? "transposed(a, src)" : "row_major(a, src)";
  OneDnnProblem problem;
  if (inner) {
    const Dims w{b[1], b[0]};
    problem.descriptor = "inner_product_forward::primitive_desc";
    problem.constants = fmt::format("const memory::dims a = {}, w = {}, y = {}{};\n", list(a), list(w), list(y),
                                    biased ? fmt::format(", b = {{{}}}", y[1]) : "");
    problem.create =
        fmt::format("{{engine, prop_kind::forward_inference, {},\n      {}, {}, row_major(y, dst), attributes}}",
                    a_desc, packed ? "memory::desc(w, wei, tag::any)" : "transposed(w, wei)",
                    biased ? "row_major(b, bia)" : "memory::desc()");
    problem.arguments = "  add(DNNL_ARG_SRC, a);\n  add(DNNL_ARG_WEIGHTS, w);\n  add(DNNL_ARG_DST, y);\n";
    if (biased) problem.arguments += "  add(DNNL_ARG_BIAS, b);\n";
  } else {
    problem.descriptor = "matmul::primitive_desc";
    problem.constants = fmt::format("const memory::dims a = {}, b = {}, y = {}{};\n", list(a), list(b), list(y),
                                    biased ? ", c = " + list(operands.front()) : "");
    problem.create = fmt::format("{{engine, {}, {},\n      {}, row_major(y, dst), attributes}}", a_desc,
                                 packed       ? "memory::desc(b, wei, tag::any)"
                                 : op.trans_b ? "transposed(b, wei)"
                                              : "row_major(b, wei)",
                                 biased ? "row_major(c, bia)" : "memory::desc()");
    problem.arguments = "  add(DNNL_ARG_SRC, a);\n  add(DNNL_ARG_WEIGHTS, b);\n  add(DNNL_ARG_DST, y);\n";
    if (biased) problem.arguments += "  add(DNNL_ARG_BIAS, c);\n";
  }
  add_post_ops(problem, op.post, operands, y, "row_major(y, dst)");
  const int columns = inner ? 1 : 1 << (y.size() - 1);  // an inner product has them as the rows of w
  if (types_of(op).quantised() && types_of(op).wei == DataType::u8)
    refuse_onednn("weights of u8, which a plan shifts to s8");
  add_scaling(problem, types_of(op), quantization(op), op.n(), op.b_constant ? columns : 0);
  return problem;
}

template <class Op>
OneDnnProblem problem_of(const Op&, const PlanName&) {
  refuse_kind(Op::kind);
}

}  // namespace

void emit_onednn_reproducer(const Reproducer& reproducer, std::ostream& out) {
  const PlanName plan = parse_plan(reproducer.plan);
  const OneDnnProblem problem = std::visit([&](const auto& op) { return problem_of(op, plan); }, reproducer.layer);
  const Types types = std::visit([](const auto& op) { return types_of(op); }, reproducer.layer);
  std::string implementation = plan.algorithm;
  if (constexpr std::string_view product = "inner_product:"; implementation.starts_with(product))
    implementation.erase(0, product.size());
  const std::string banner =
      reproducer_banner(reproducer, "g++ -O2 -std=c++17 -fopenmp reproducer.cpp -ldnnl -lbenchmark -o reproducer",
                        "OMP_PROC_BIND=close OMP_PLACES=cores ./reproducer");
  out << filled(reproducer_onednn, {{"banner", banner},
                                    {"src", type_of(types.src)},
                                    {"wei", type_of(types.wei)},
                                    {"dst", type_of(types.dst)},
                                    {"bia", type_of(types.bia())},
                                    {"threads", std::to_string(plan.threads)},
                                    {"implementation", implementation},
                                    {"flops", fmt::format("{:.0f}", cost(reproducer.layer).flops.value)},
                                    {"constants", problem.constants},
                                    {"descriptor", problem.descriptor},
                                    {"post_ops", problem.post_ops},
                                    {"create", problem.create},
                                    {"scaling", problem.scaling},
                                    {"numbers", problem.numbers},
                                    {"arguments", problem.arguments}});
}

}  // namespace benanza::codegen
