// SPDX-License-Identifier: Apache-2.0
// Reproducers by cuBLASLt's own calls. They ask as src/backend/cublas does, and of the heuristic's results take the one
// of the plan's configuration.
#include "emit_reproducer.hpp"
#include "reproducer_templates.hpp"
#include <benanza/error.hpp>
#include <benanza/model/layer_signature.hpp>
#include <benanza/model/quantization.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_cublaslt(const std::string& what) { refuse_reproducer("cuBLASLt", what); }

struct CublasLtProblem {
  std::int64_t m = 0, n = 0, k = 0, batch = 1, stride_a = 0, stride_b = 0;
  bool trans_a = false, trans_b = false;
};

/// How far an operand moves from one product of the batch to the next, in elements.
std::int64_t stride(const TensorShape& operand, std::int64_t batch) {
  const std::int64_t matrix = operand[operand.size() - 2] * operand[operand.size() - 1];
  const std::int64_t matrices = element_count(operand) / matrix;
  if (matrices != 1 && matrices != batch) refuse_cublaslt("a batch of which an operand broadcasts along a part");
  return matrices == 1 ? 0 : matrix;
}

CublasLtProblem problem_of(const op::MatMul& op, bool channels_last) {
  if (channels_last) refuse_cublaslt("layout nhwc of a matrix product");
  if (op.b_type.value_or(op.type) != op.type) refuse_cublaslt("operands of two types");
  if (op.a_zero || op.b_zero) refuse_cublaslt("zero points other than 0");
  const std::int64_t batch = element_count(op.batch());
  // Operands of 8 bits lie along what is summed, whichever way the layer has them.
  const bool narrow = bits(op.type) == 8;
  return {.m = op.m(),
          .n = op.n(),
          .k = op.k(),
          .batch = batch,
          .stride_a = stride(op.a, batch),
          .stride_b = stride(op.b, batch),
          .trans_a = op.trans_a && !narrow,
          .trans_b = op.trans_b || narrow};
}

/// The product of a convolution of one tap and stride 1: y = w x for each image, or with channels last y' = x' w' for
/// all images.
CublasLtProblem problem_of(const op::Conv& op, bool channels_last) {
  const auto all = [](const TensorShape& list, std::int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](auto entry) { return entry == value; });
  };
  const std::int64_t places = element_count(op.x) / (op.x[0] * op.x[1]);
  const bool product = element_count(op.w) == op.w[0] * op.w[1] && op.group == 1 && all(op.pads, 0) &&
                       all(op.strides, 1) && (channels_last || (op.post.empty() && bits(op.type) > 8)) &&
                       op.w_type.value_or(op.type) == op.type && !op.x_zero && !op.w_zero;
  if (!product) refuse_cublaslt("a convolution that is not a plain matrix product");
  if (channels_last) return {.m = op.x[0] * places, .n = op.w[0], .k = op.x[1], .trans_b = true};
  return {.m = op.w[0], .n = places, .k = op.x[1], .batch = op.x[0], .stride_b = op.x[1] * places};
}

template <class Op>
CublasLtProblem problem_of(const Op&, bool) {
  refuse_kind(Op::kind);
}

/// A type as CUDA's enumerations name it.
std::string cuda_type(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::tf32: return "CUDA_R_32F";
    case DataType::f16: return "CUDA_R_16F";
    case DataType::bf16: return "CUDA_R_16BF";
    case DataType::f64: return "CUDA_R_64F";
    case DataType::f8e4m3: return "CUDA_R_8F_E4M3";
    case DataType::i8: return "CUDA_R_8I";
    case DataType::i32: return "CUDA_R_32I";
    default: refuse_cublaslt("type " + std::string(name(type)));
  }
}

/// How operands of `type` are multiplied to a result of type `y`.
struct Arithmetic {
  DataType type, y;
  DataType c = y, bias = y;
  const char *compute = "CUBLAS_COMPUTE_32F", *scale = "CUDA_R_32F", *scalar = "float";
};
Arithmetic arithmetic(DataType type, DataType y) {
  if (y != type && !(type == DataType::i8 && y == DataType::i32)) refuse_cublaslt("a result of another type");
  switch (type) {
    case DataType::tf32: return {.type = type, .y = y, .compute = "CUBLAS_COMPUTE_32F_FAST_TF32"};
    case DataType::f64:
      return {.type = type, .y = y, .compute = "CUBLAS_COMPUTE_64F", .scale = "CUDA_R_64F", .scalar = "double"};
    case DataType::f8e4m3: return {.type = type, .y = y, .c = DataType::bf16, .bias = DataType::bf16};
    case DataType::i8:
      if (y == DataType::i32)
        return {.type = type, .y = y, .compute = "CUBLAS_COMPUTE_32I", .scale = "CUDA_R_32I", .scalar = "std::int32_t"};
      return {.type = type, .y = y, .bias = DataType::f32, .compute = "CUBLAS_COMPUTE_32I"};
    default: return {.type = type, .y = y};
  }
}

/// Text of one of cuBLASLt's scalars.
std::string number_text(double value) { return value == 1 ? "1" : float_text(value); }

struct LtEpilogue {
  bool bias = false, c = false;
  std::string kind = "DEFAULT";
};
LtEpilogue epilogue_of(const Layer& layer) {
  const Epilogue* post = nullptr;
  std::visit(
      [&](const auto& op) {
        if constexpr (requires { op.post; }) post = &op.post;
      },
      layer);
  LtEpilogue result;
  std::string activation;
  for (const auto& step : *post) {
    const std::string refused = "the step " + std::string(detail::enum_name(step.fn)) + " of an epilogue at its place";
    if (!activation.empty()) refuse_cublaslt(refused);
    if (step == bias && !result.bias) result.bias = true;
    else if (step.fn == ElementwiseFn::add && !step.channel && step.shape.empty() && !result.c) result.c = true;
    else if (step.fn == ElementwiseFn::relu) activation = "RELU";
    else if (step.fn == ElementwiseFn::gelu_tanh) activation = "GELU";
    else refuse_cublaslt(refused);
  }
  if (!activation.empty()) result.kind = activation + (result.bias ? "_BIAS" : "");
  else if (result.bias) result.kind = "BIAS";
  return result;
}

/// The configuration as a table; what the name leaves out is 0.
std::string keys_of(const PlanName& plan) {
  constexpr std::array<std::pair<const char*, const char*>, 9> known{{{"id", "ID"},
                                                                      {"tile", "TILE_ID"},
                                                                      {"stages", "STAGES_ID"},
                                                                      {"splitk", "SPLITK_NUM"},
                                                                      {"reduction", "REDUCTION_SCHEME"},
                                                                      {"swizzle", "CTA_SWIZZLING"},
                                                                      {"custom", "CUSTOM_OPTION"},
                                                                      {"inner", "INNER_SHAPE_ID"},
                                                                      {"cluster", "CLUSTER_SHAPE_ID"}}};
  std::string text;
  std::size_t used = 0;
  for (const auto& [key, attribute] : known) {
    std::uint32_t value = 0;
    if (const auto found = plan.keys.find(key); found != plan.keys.end()) {
      const std::string& digits = found->second;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc{} || end != digits.data() + digits.size())
        throw UsageError("plan: " + std::string(key) + "=" + digits + ", expected a number");
      ++used;
    }
    text +=
        "    {CUBLASLT_ALGO_CONFIG_" + std::string(attribute) + ", \"" + key + "\", " + std::to_string(value) + "},\n";
  }
  if (used != plan.keys.size()) refuse_cublaslt("one of the keys of this plan");
  return text;
}

}  // namespace

void emit_cublaslt_reproducer(const Reproducer& reproducer, std::ostream& out) {
  PlanName plan = parse_plan(reproducer.plan);
  const auto layout = plan.keys.extract("layout");
  if (!layout.empty() && layout.mapped() != "nhwc") refuse_cublaslt("layout " + layout.mapped());
  if (plan.algorithm != "lt" && !plan.algorithm.starts_with("lt:"))
    refuse_cublaslt("plan '" + plan.algorithm + "' of cuBLAS: those of cuBLASLt begin with lt");
  const CublasLtProblem problem =
      std::visit([&](const auto& op) { return problem_of(op, !layout.empty()); }, reproducer.layer);
  const Arithmetic how = arithmetic(type(reproducer.layer), operands(reproducer.layer).outputs[0].type);
  const LtEpilogue epilogue = epilogue_of(reproducer.layer);
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  constexpr std::size_t workspace = std::size_t{32} << 20;  // what the backend gives
  out << cuda_reproducer(reproducer, "-lcublasLt", "#include <benchmark/benchmark.h>\n#include <cublasLt.h>\n",
                         filled(reproducer_cublaslt, {{"m", std::to_string(problem.m)},
                                                      {"n", std::to_string(problem.n)},
                                                      {"k", std::to_string(problem.k)},
                                                      {"batch", std::to_string(problem.batch)},
                                                      {"trans_a", truth(problem.trans_a)},
                                                      {"trans_b", truth(problem.trans_b)},
                                                      {"stride_a", std::to_string(problem.stride_a)},
                                                      {"stride_b", std::to_string(problem.stride_b)},
                                                      {"type", cuda_type(how.type)},
                                                      {"y_type", cuda_type(how.y)},
                                                      {"y_element", cuda_element(how.y)},
                                                      {"c_type", cuda_type(how.c)},
                                                      {"c_element", cuda_element(how.c)},
                                                      {"bias_type", cuda_type(how.bias)},
                                                      {"bias_element", cuda_element(how.bias)},
                                                      {"fast", truth(plan.algorithm.starts_with("lt:fast"))},
                                                      {"alpha", number_text(quantization(reproducer.layer).rescale)},
                                                      {"scale", how.scale},
                                                      {"compute", how.compute},
                                                      {"scalar", how.scalar},
                                                      {"epilogue", epilogue.kind},
                                                      {"has_bias", truth(epilogue.bias)},
                                                      {"has_c", truth(epilogue.c)},
                                                      {"workspace", std::to_string(workspace)},
                                                      {"keys", keys_of(plan)}}));
}

}  // namespace benanza::codegen
