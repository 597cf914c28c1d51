// SPDX-License-Identifier: Apache-2.0
#include "logged_layer.hpp"

#include <benanza/base/detail/window_axes.hpp>
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <utility>

namespace benanza::profile {

std::optional<DataType> logged_type(std::string_view name) {
  for (const std::string_view prefix : {"CUDNN_DATA_", "CUDA_"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  constexpr std::pair<std::string_view, DataType> names[] = {
      {"FLOAT", DataType::f32},        {"HALF", DataType::f16},         {"BFLOAT16", DataType::bf16},
      {"DOUBLE", DataType::f64},       {"INT8", DataType::i8},          {"UINT8", DataType::u8},
      {"INT32", DataType::i32},        {"INT64", DataType::i64},        {"FP8_E4M3", DataType::f8e4m3},
      {"FP8_E5M2", DataType::f8e5m2},  {"R_32F", DataType::f32},        {"R_16F", DataType::f16},
      {"R_16BF", DataType::bf16},      {"R_64F", DataType::f64},        {"R_8I", DataType::i8},
      {"R_8U", DataType::u8},          {"R_32I", DataType::i32},        {"R_8F_E4M3", DataType::f8e4m3},
      {"R_8F_E5M2", DataType::f8e5m2}, {"R_4F_E2M1", DataType::f4e2m1}, {"FP4_E2M1", DataType::f4e2m1},
      {"C_32F", DataType::c64},        {"C_64F", DataType::c128}};
  for (const auto& [theirs, ours] : names)
    if (name == theirs) return ours;
  return std::nullopt;
}

std::string conv_signature(const LoggedConv& conv) {
  const std::size_t rank = conv.x.size();
  if (rank < 3 || rank > 6 || conv.w.size() != rank) return {};
  const std::size_t axes_count = rank - 2;
  const auto number = [axes_count](const Dims& list, std::size_t i, std::int64_t otherwise) {
    return list.size() == axes_count ? list[i] : otherwise;
  };
  detail::WindowAxes axes;
  for (std::size_t i = 0; i < axes_count; ++i) {
    const std::int64_t pad = number(conv.pads, i, 0);
    axes.axes.push_back({detail::Window{.size = conv.x[i + 2],
                                        .kernel = conv.w[i + 2],
                                        .pad_begin = pad,
                                        .pad_end = pad,
                                        .stride = number(conv.strides, i, 1),
                                        .dilation = number(conv.dilations, i, 1)}});
  }
  axes.canonicalize();
  op::Conv layer{.type = conv.type,
                 .x = axes.shape(conv.x[0], conv.x[1], &detail::Window::size),
                 .w = axes.shape(conv.w[0], conv.w[1], &detail::Window::kernel),
                 .pads = axes.pads(),
                 .strides = axes.strides(),
                 .dilations = axes.dilations(),
                 .group = conv.group,
                 .post = conv.post};
  if (conv.y_type != conv.type) layer.y_type = conv.y_type;
  return layer.consistent() ? LayerSignature(layer).text() : std::string();
}

std::string gemm_signature(const LoggedGemm& gemm) {
  if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1 || gemm.batch < 1) return {};
  // In row-major order, the left operand has the rows of the result, and the right one has its columns.
  const std::int64_t rows = gemm.row_major ? gemm.m : gemm.n, columns = gemm.row_major ? gemm.n : gemm.m;
  const bool left_transposed = gemm.row_major ? gemm.trans_a : gemm.trans_b;
  const bool right_transposed = gemm.row_major ? gemm.trans_b : gemm.trans_a;
  const bool left_batched = gemm.row_major ? gemm.a_batched : gemm.b_batched;
  const bool right_batched = gemm.row_major ? gemm.b_batched : gemm.a_batched;
  op::MatMul layer{.type = gemm.type, .post = gemm.post};
  if (gemm.y_type != gemm.type) layer.y_type = gemm.y_type;
  const bool batched = gemm.batch > 1 && right_batched;
  layer.b_constant = !batched;
  layer.trans_a = left_transposed && rows != 1 && gemm.k != 1;
  layer.trans_b = right_transposed && batched && columns != 1 && gemm.k != 1;
  if (!batched) {
    if (gemm.batch > 1 && layer.trans_a) return {};  // not a single matrix: its rows do not follow each other
    layer.a = {gemm.batch * rows, gemm.k};
    layer.b = {gemm.k, columns};
  } else {
    layer.a = left_batched ? TensorShape{gemm.batch, rows, gemm.k} : TensorShape{1, rows, gemm.k};
    layer.b = {gemm.batch, gemm.k, columns};
  }
  return layer.consistent() ? LayerSignature(layer).text() : std::string();
}

}  // namespace benanza::profile
