// SPDX-License-Identifier: Apache-2.0
// Rows of cuBLAS and cuBLASLt: matrix products, and convolutions that are matrix products.
#include "standalone.hpp"
#include <benanza/model/layer.hpp>
#include <benanza/model/quantization.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace benanza::codegen {

namespace {

[[noreturn]] void refuse_cublas(const std::string& what) { refuse_row("cuBLAS", what); }

/// A product, with everything that determines its call.
struct Product {
  StridedProduct sizes{};
  bool trans_a = false, trans_b = false, constant_a = false, constant_b = false, channels_last = false;
  DataType type = DataType::f32, y = DataType::f32;
  Epilogue post{};
};

Product product_of(const op::MatMul& op) {
  if (op.b_type.value_or(op.type) != op.type) refuse_cublas("operands of two types");
  if (op.a_zero || op.b_zero) refuse_cublas("zero points other than 0");
  const bool narrow = bits(op.type) == 8;  // operands are contiguous along k, whatever the layer's layout
  return {.sizes = strided_product(op, "cuBLAS"),
          .trans_a = op.trans_a && !narrow,
          .trans_b = op.trans_b || narrow,
          .constant_a = op.a_constant,
          .constant_b = op.b_constant,
          .type = op.type,
          .y = op.y_type.value_or(op.type),
          .post = op.post};
}

/// A convolution of one tap and stride 1 is a product: y = w x for each image, or with channels last, y' = x' w' for
/// all images.
Product product_of(const op::Conv& op, bool channels_last) {
  const auto all = [](const TensorShape& list, std::int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](auto entry) { return entry == value; });
  };
  const std::int64_t places = element_count(op.x) / (op.x[0] * op.x[1]);
  if (element_count(op.w) != op.w[0] * op.w[1] || op.group != 1 || !all(op.pads, 0) || !all(op.strides, 1) ||
      op.w_type.value_or(op.type) != op.type || op.x_zero || op.w_zero)
    refuse_cublas("a convolution that is not a plain matrix product");
  Product result{.channels_last = channels_last, .type = op.type, .y = op.y_type.value_or(op.type), .post = op.post};
  if (channels_last) {
    result.sizes = {.m = op.x[0] * places, .n = op.w[0], .k = op.x[1]};
    result.trans_b = true;
    result.constant_b = op.w_constant;
  } else {
    if (!op.post.empty() || bits(op.type) == 8) refuse_cublas("this convolution but with its channels last");
    result.sizes = {.m = op.w[0], .n = places, .k = op.x[1], .batch = op.x[0], .stride_b = op.x[1] * places};
    result.constant_a = op.w_constant;
  }
  return result;
}

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
    default: refuse_cublas("type " + std::string(name(type)));
  }
}

std::string compute_of(DataType type) {
  switch (type) {
    case DataType::tf32: return "CUBLAS_COMPUTE_32F_FAST_TF32";
    case DataType::f64: return "CUBLAS_COMPUTE_64F";
    case DataType::i8: return "CUBLAS_COMPUTE_32I";
    default: return "CUBLAS_COMPUTE_32F";
  }
}

std::string sizes_text(const Product& p) {
  if (std::max({p.sizes.m, p.sizes.n, p.sizes.k, p.sizes.batch}) > std::numeric_limits<int>::max())
    refuse_cublas("sizes beyond 32 bits");
  std::string text = fmt::format(".m = {}, .n = {}, .k = {}, .batch = {}, .stride_a = {}, .stride_b = {}", p.sizes.m,
                                 p.sizes.n, p.sizes.k, p.sizes.batch, p.sizes.stride_a, p.sizes.stride_b);
  const auto flag = [&](bool set, const char* name) { text += set ? fmt::format(", .{} = true", name) : ""; };
  flag(p.trans_a, "trans_a");
  flag(p.trans_b, "trans_b");
  flag(p.constant_a, "constant_a");
  flag(p.constant_b, "constant_b");
  return text;
}

/// The epilogue of cuBLASLt, the name of plans that have it, and its operands.
std::string lt_epilogue(const Epilogue& post) {
  std::string name = "lt", activation;
  bool has_bias = false, has_c = false;
  for (const auto& step : post) {
    if (!activation.empty()) refuse_cublas(step_name(step) + " at its place");
    if (step == bias && !has_bias) {
      has_bias = true;
      name += ":bias";
    } else if (step.fn == ElementwiseFn::add && !step.channel && step.shape.empty() && !has_c) {
      has_c = true;
      name += ":add";
    } else if (step.fn == ElementwiseFn::relu) {
      activation = "RELU";
      name += ":relu";
    } else if (step.fn == ElementwiseFn::gelu_tanh) {  // exact GELU is up to 5e-4 away
      activation = "GELU";
      name += ":gelu";
    } else {
      refuse_cublas(step_name(step) + " at its place");
    }
  }
  const std::string kind = !activation.empty() ? activation + (has_bias ? "_BIAS" : "") : has_bias ? "BIAS" : "DEFAULT";
  std::string text = ", .epilogue = CUBLASLT_EPILOGUE_" + kind;
  if (has_bias) text += ", .has_bias = true";
  if (has_c) text += ", .has_c = true";
  return text + (post.empty() ? "" : ", .name = \"" + name + "\"");
}

}  // namespace

std::optional<std::string> cublas_product_row(const Layer& layer) {
  const auto* product = std::get_if<op::MatMul>(&layer);
  const auto* conv = std::get_if<op::Conv>(&layer);
  if (product == nullptr && conv == nullptr) return std::nullopt;
  const Product p = product != nullptr ? product_of(*product) : product_of(*conv, false);
  if (bits(p.type) == 8 || p.y != p.type) refuse_cublas("quantised operands but in cuBLASLt");
  if (!p.post.empty()) refuse_cublas("an epilogue but in cuBLASLt");
  return fmt::format(".type = {}, .compute = {}, ", cuda_type(p.type), compute_of(p.type)) + sizes_text(p);
}

std::optional<std::string> cublaslt_product_row(const Layer& layer) {
  const auto* product = std::get_if<op::MatMul>(&layer);
  const auto* conv = std::get_if<op::Conv>(&layer);
  if (product == nullptr && conv == nullptr) return std::nullopt;
  // A convolution with channels last can have an epilogue; without one, it is a product in either layout.
  const Product p = product != nullptr ? product_of(*product) : product_of(*conv, true);
  if (p.y != p.type && !(p.type == DataType::i8 && p.y == DataType::i32)) refuse_cublas("a result of another type");
  const bool sums = p.y == DataType::i32;
  if (sums && !p.post.empty()) refuse_cublas("an epilogue of sums of integers");
  std::string c = cuda_type(p.y), bias_type = c, scale = "CUDA_R_32F";
  if (p.type == DataType::f8e4m3) c = bias_type = "CUDA_R_16BF";
  if (p.type == DataType::i8 && !sums) bias_type = "CUDA_R_32F";
  if (p.type == DataType::f64) scale = "CUDA_R_64F";
  if (sums) scale = "CUDA_R_32I";
  const double alpha = quantization(layer).rescale;
  return fmt::format(".type = {}, .y_type = {}, .c_type = {}, .bias_type = {}, .compute = {}, .scale = {}{}, ",
                     cuda_type(p.type), cuda_type(p.y), c, bias_type, compute_of(p.type), scale,
                     alpha == 1 ? "" : fmt::format(", .alpha = {}", alpha)) +
         sizes_text(p) + lt_epilogue(p.post) + (p.channels_last ? ", .layout = \"nhwc\"" : "");
}

}  // namespace benanza::codegen
