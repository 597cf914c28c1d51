// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

#include "plan/batch_offset.hpp"
#include "plan/tolerance.hpp"
#include <benanza/model/quantization.hpp>

#include <algorithm>
#include <limits>

namespace benanza::cublas {

std::optional<int> to_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(size);
}

namespace {

/// The constant stride of an operand through the batch, if there is one.
std::optional<std::int64_t> only_stride(const std::vector<Offsets>& offsets, std::int64_t Offsets::*operand) {
  const std::int64_t stride = offsets.size() > 1 ? offsets[1].*operand : 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i].*operand != stride * static_cast<std::int64_t>(i)) return std::nullopt;
  return stride;
}

constexpr const char* unknown_types =
    "backend cublas multiplies f32, tf32, f16, bf16, f64, f8e4m3 and i8 with zero points of 0, both operands and the "
    "result alike (of i8 also i32)";

/// Pixels of one image.
std::int64_t places_of(const op::Conv& op) { return element_count(op.x) / (op.x[0] * op.x[1]); }

std::optional<std::string> why_no_product(const op::Conv& op) {
  const auto all = [](const TensorShape& list, std::int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](auto entry) { return entry == value; });
  };
  const bool one_tap = std::all_of(op.w.begin() + 2, op.w.end(), [](auto size) { return size == 1; });
  if (!one_tap || op.group != 1 || !all(op.pads, 0) || !all(op.strides, 1))
    return "in cuBLAS a convolution is a product only if it has one tap, one group, stride 1 and no pads";
  if (!arithmetic(op.type, op.y_type.value_or(op.type)) || op.w_type.value_or(op.type) != op.type || op.x_zero ||
      op.w_zero)
    return unknown_types;
  return std::nullopt;
}

/// Arranges the operands as narrow types require: a by rows, b by columns.
void turn(Problem& problem) {
  if (problem.trans_a) problem.turned_a = {"turned", problem.k, problem.m};
  if (!problem.trans_b) problem.turned_b = {"turned", problem.k, problem.n};
  problem.trans_a = false;
  problem.trans_b = true;
  problem.lda = problem.ldb = problem.k;
}

}  // namespace

std::optional<Arithmetic> arithmetic(DataType type, DataType result) {
  using enum DataType;
  if (result != type && !(type == i8 && result == i32)) return std::nullopt;
  switch (type) {
    case f32: return Arithmetic{};
    case tf32: return Arithmetic{.compute = CUBLAS_COMPUTE_32F_FAST_TF32, .tolerance = tolerance(type)};
    case f16: return Arithmetic{.stored = CUDA_R_16F, .tolerance = tolerance(type)};
    case bf16: return Arithmetic{.stored = CUDA_R_16BF, .tolerance = tolerance(type)};
    case f64:
      return Arithmetic{.stored = CUDA_R_64F, .compute = CUBLAS_COMPUTE_64F, .scale = CUDA_R_64F, .tolerance = 1e-9};
    case f8e4m3:
      return Arithmetic{.stored = CUDA_R_8F_E4M3,
                        .tolerance = tolerance(type),
                        .narrow = true,
                        .addend = CUDA_R_16BF,
                        .bias = CUDA_R_16BF};
    case i8:
      return Arithmetic{.stored = CUDA_R_8I,
                        .compute = CUBLAS_COMPUTE_32I,
                        .scale = result == i32 ? CUDA_R_32I : CUDA_R_32F,
                        .narrow = true,
                        .result = result == i32 ? CUDA_R_32I : CUDA_R_8I,
                        .bias = CUDA_R_32F};
    default: return std::nullopt;
  }
}

Described describe(const op::MatMul& op) {
  const auto how = arithmetic(op.type, op.y_type.value_or(op.type));
  if (!how || op.b_type.value_or(op.type) != op.type || op.a_zero || op.b_zero) return unknown_types;
  const auto m = to_int(op.m()), n = to_int(op.n()), k = to_int(op.k()), batch = to_int(element_count(op.batch()));
  if (!m || !n || !k || !batch) return too_large;
  Problem problem{.arithmetic = *how,
                  .m = *m,
                  .n = *n,
                  .k = *k,
                  .lda = op.trans_a ? *m : *k,
                  .ldb = op.trans_b ? *k : *n,
                  .ldy = *n,
                  .trans_a = op.trans_a,
                  .trans_b = op.trans_b,
                  .batch = *batch};
  std::vector<Offsets> offsets;
  for (std::int64_t i = 0; i < *batch; ++i)
    offsets.push_back({batch_offset(op.batch(), i, op.a, op.m() * op.k()),
                       batch_offset(op.batch(), i, op.b, op.k() * op.n()), i * op.m() * op.n()});
  const auto stride_a = only_stride(offsets, &Offsets::a), stride_b = only_stride(offsets, &Offsets::b);
  problem.stride_y = op.m() * op.n();
  if (stride_a && stride_b) {
    problem.stride_a = *stride_a;
    problem.stride_b = *stride_b;
  } else {
    problem.offsets = std::move(offsets);
  }
  problem.factor = quantization(op).rescale;
  if (how->narrow) turn(problem);
  return problem;
}

Described describe(const op::Conv& op) {
  if (auto why = why_no_product(op)) return *std::move(why);
  const Arithmetic how = *arithmetic(op.type, op.y_type.value_or(op.type));
  if (how.narrow || !op.post.empty()) return "cuBLAS multiplies this convolution with its channels last only";
  const std::int64_t places = places_of(op);
  const auto m = to_int(op.w[0]), n = to_int(places), k = to_int(op.x[1]), batch = to_int(op.x[0]);
  if (!m || !n || !k || !batch) return too_large;
  return Problem{.arithmetic = how,
                 .m = *m,
                 .n = *n,
                 .k = *k,
                 .lda = *k,
                 .ldb = *n,
                 .ldy = *n,
                 .stride_b = op.x[1] * places,
                 .stride_y = op.w[0] * places,
                 .batch = *batch,
                 .input_a = 1,
                 .input_b = 0};
}

Described describe_channels_last(const op::Conv& op) {
  if (auto why = why_no_product(op)) return *std::move(why);
  const std::int64_t places = places_of(op);
  const auto m = to_int(op.x[0] * places), n = to_int(op.w[0]), k = to_int(op.x[1]);
  if (!m || !n || !k) return too_large;
  return Problem{.arithmetic = *arithmetic(op.type, op.y_type.value_or(op.type)),
                 .m = *m,
                 .n = *n,
                 .k = *k,
                 .lda = *k,
                 .ldb = *k,
                 .ldy = *n,
                 .trans_b = true,
                 .turned_a = {"nhwc", op.x[1], places},
                 .turned_y = {"nhwc", op.w[0], places},
                 .factor = quantization(op).rescale};
}

}  // namespace benanza::cublas
