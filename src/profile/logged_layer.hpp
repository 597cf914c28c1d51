// SPDX-License-Identifier: Apache-2.0
// Signatures of layers from the calls in API logs, in the form of a model's layers.
#pragma once

#include <benanza/model/data_type.hpp>
#include <benanza/op/convolution.hpp>
#include <benanza/op/product.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

using Dims = std::vector<std::int64_t>;

/// `CUDNN_DATA_HALF`, `CUDA_R_16F`, `R_16F`; empty for a type that Benanza lacks.
[[nodiscard]] std::optional<DataType> logged_type(std::string_view name);

/// A convolution as described by its descriptors: N C and spatial dimensions, equal pads at both ends.
struct LoggedConv {
  DataType type = DataType::f32, y_type = DataType::f32;
  Dims x{}, w{}, pads{}, strides{}, dilations{};
  std::int64_t group = 1;
  Epilogue post{};
};
/// Empty if the sizes do not fit together.
[[nodiscard]] std::string conv_signature(const LoggedConv& conv);

/// A product as column-major libraries compute it: C (m x n) = op(A) (m x k) op(B) (k x n), which is C' = B' A' in
/// row-major order.
struct LoggedGemm {
  DataType type = DataType::f32, y_type = DataType::f32;
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::int64_t batch = 1;
  bool a_batched = true, b_batched = true;  ///< used if batch > 1
  bool row_major = false;                   ///< possible in cuBLASLt: operands are not exchanged then
  Epilogue post{};
};
/// A log does not say what is constant: the weights of a product without a batch are taken as constant, those of a
/// batched one are not. Empty if the sizes do not fit together.
[[nodiscard]] std::string gemm_signature(const LoggedGemm& gemm);

}  // namespace benanza::profile
