// SPDX-License-Identifier: Apache-2.0
// Signatures of layers from what API logs say about a call, spelled as the layers of a model are.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/op/conv.hpp>
#include <benanza/op/mat_mul.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

using Dims = std::vector<std::int64_t>;

/// `CUDNN_DATA_HALF`, `CUDA_R_16F`, `R_16F`; nothing for a type that Benanza lacks.
[[nodiscard]] std::optional<DataType> logged_type(std::string_view name);

/// A convolution as its descriptors give it: N C and spatial dimensions, pads alike at both ends.
struct LoggedConv {
  DataType type = DataType::f32, y_type = DataType::f32;
  Dims x{}, w{}, pads{}, strides{}, dilations{};
  std::int64_t group = 1;
  Epilogue post{};
};
/// Empty where the sizes do not fit together.
[[nodiscard]] std::string conv_signature(const LoggedConv& conv);

/// A product as column-major libraries make it: C (m x n) = op(A) (m x k) op(B) (k x n), which row-major is C' = B' A'.
struct LoggedGemm {
  DataType type = DataType::f32, y_type = DataType::f32;
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::int64_t batch = 1;
  bool a_batched = true, b_batched = true;  ///< where batch > 1
  bool row_major = false;                   ///< as cuBLASLt can: nothing is exchanged then
  Epilogue post{};
};
/// A log does not say what is constant: the weights of a product without batch are taken to be, those of a batched one
/// not. Empty where the sizes do not fit together.
[[nodiscard]] std::string gemm_signature(const LoggedGemm& gemm);

}  // namespace benanza::profile
