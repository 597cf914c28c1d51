// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

#include <benanza/bench/batch_offset.hpp>
#include <benanza/bench/tolerance.hpp>

#include <algorithm>
#include <limits>

namespace benanza::cublas {

namespace {

std::optional<int> to_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(size);
}

/// The one stride of an operand through the batch, if there is one.
std::optional<std::int64_t> only_stride(const std::vector<Offsets>& offsets, std::int64_t Offsets::*operand) {
  const std::int64_t stride = offsets.size() > 1 ? offsets[1].*operand : 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i].*operand != stride * static_cast<std::int64_t>(i)) return std::nullopt;
  return stride;
}

}  // namespace

std::optional<Arithmetic> arithmetic(DataType type) {
  const std::string_view text = name(type);
  if (text == "f32") return Arithmetic{};
  if (text == "tf32") return Arithmetic{.compute = CUBLAS_COMPUTE_32F_FAST_TF32, .tolerance = tolerance(type)};
  if (text == "f16") return Arithmetic{.stored = CUDA_R_16F, .tolerance = tolerance(type)};
  if (text == "bf16") return Arithmetic{.stored = CUDA_R_16BF, .tolerance = tolerance(type)};
  if (text == "f64")
    return Arithmetic{.stored = CUDA_R_64F, .compute = CUBLAS_COMPUTE_64F, .scale = CUDA_R_64F, .tolerance = 1e-9};
  return std::nullopt;
}

Described describe(const op::MatMul& op) {
  const auto how = arithmetic(op.type);
  if (!how || op.b_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    return "backend cublas multiplies f32, tf32, f16, bf16 and f64 here, both operands and the result alike";
  const auto m = to_int(op.m()), n = to_int(op.n()), k = to_int(op.k()), batch = to_int(element_count(op.batch()));
  if (!m || !n || !k || !batch) return "a dimension exceeds the 32 bits of cuBLAS";
  Problem problem{.arithmetic = *how,
                  .m = *m,
                  .n = *n,
                  .k = *k,
                  .lda = op.trans_a ? *m : *k,
                  .ldb = op.trans_b ? *k : *n,
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
  return problem;
}

Described describe(const op::Conv& op) {
  const auto how = arithmetic(op.type);
  const auto all = [](const TensorShape& list, std::int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](auto entry) { return entry == value; });
  };
  const bool one_tap = std::all_of(op.w.begin() + 2, op.w.end(), [](auto size) { return size == 1; });
  if (!how || !one_tap || op.group != 1 || !all(op.pads, 0) || !all(op.strides, 1) || !op.post.empty() ||
      op.w_type.value_or(op.type) != op.type || op.y_type.value_or(op.type) != op.type)
    return "in cuBLAS a convolution is a product only if it has one tap, one group, stride 1, no pads and no epilogue";
  const std::int64_t places = element_count(op.x) / (op.x[0] * op.x[1]);
  const auto m = to_int(op.w[0]), n = to_int(places), k = to_int(op.x[1]), batch = to_int(op.x[0]);
  if (!m || !n || !k || !batch) return "a dimension exceeds the 32 bits of cuBLAS";
  return Problem{.arithmetic = *how,
                 .m = *m,
                 .n = *n,
                 .k = *k,
                 .lda = *k,
                 .ldb = *n,
                 .stride_b = op.x[1] * places,
                 .stride_y = op.w[0] * places,
                 .batch = *batch,
                 .input_a = 1,
                 .input_b = 0};
}

}  // namespace benanza::cublas
