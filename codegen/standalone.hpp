// SPDX-License-Identifier: Apache-2.0
// Standalone suites: the families of layers for each library, and how a layer becomes a row of a family's table. The
// text around the rows is in standalone/: headers that families share, one source for each family.
#pragma once

#include <benanza/codegen.hpp>
#include <benanza/model/epilogue.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::codegen {

/// Why a library has no row for a layer.
struct NoRow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One interface of a library.
struct StandaloneInterface {
  std::string_view backend{};  ///< the backend whose plans make its calls
  std::string_view part{};     ///< the part that its families include: `onednn` for `onednn.hpp`
  std::string_view link{};     ///< compiler options for its libraries
  /// The prefix of the names of its plans. If empty, its plans are those without a prefix of another interface of the
  /// library.
  std::string_view plans{};
};

/// The layers of one kind for one interface: one function that calls it, and one table of layers.
struct StandaloneFamily {
  const StandaloneInterface& by;
  std::string_view name{};  ///< name of its source and its function: `onednn_convolution`
  std::string_view text{};  ///< the template
  /// The fields of a layer's row after signature and work. Empty for a layer of another kind. Throws NoRow.
  std::optional<std::string> (*row)(const Layer& layer){};
};
/// The list of all families.
[[nodiscard]] std::span<const StandaloneFamily> standalone_families();

using Dims = std::vector<std::int64_t>;
[[nodiscard]] inline Dims dims_of(const TensorShape& shape) { return {shape.begin(), shape.end()}; }
/// `{1, 64, 56, 56}`.
[[nodiscard]] std::string list(std::span<const std::int64_t> dims);
[[nodiscard]] inline std::string list(const TensorShape& shape) { return list(std::span(shape.begin(), shape.end())); }
/// The number as text; the largest float for an infinite limit.
[[nodiscard]] std::string float_text(double value);
[[nodiscard]] std::string truth(bool value);
[[nodiscard]] bool starts_with_bias(const Epilogue& post);
/// Dimensions of an operand of the epilogue, with the result's rank.
[[nodiscard]] Dims operand_dims(const PostOp& op, std::span<const std::int64_t> y, std::size_t channel_axis);
/// `count` entries of a list, starting at `from`. If the list is empty, all entries are `otherwise`.
[[nodiscard]] Dims entries(const TensorShape& list, std::size_t from, std::size_t count, std::int64_t otherwise);
/// Throws NoRow: `library` cannot express `what`.
[[noreturn]] void refuse_row(std::string_view library, const std::string& what);
[[nodiscard]] std::string step_name(const PostOp& step);

/// A product whose operands have strides along the batch. A stride is 0 if one matrix is used for all entries.
struct StridedProduct {
  std::int64_t m = 0, n = 0, k = 0, batch = 1, stride_a = 0, stride_b = 0;
};
/// Throws NoRow if an operand is broadcast along a part of the batch.
[[nodiscard]] StridedProduct strided_product(const op::MatMul& op, std::string_view library);

std::optional<std::string> onednn_convolution_row(const Layer& layer);
std::optional<std::string> onednn_product_row(const Layer& layer);
std::optional<std::string> onednn_backward_row(const Layer& layer);
std::optional<std::string> onednn_pooling_row(const Layer& layer);
std::optional<std::string> onednn_normalization_row(const Layer& layer);
std::optional<std::string> onednn_softmax_row(const Layer& layer);
std::optional<std::string> onednn_activation_row(const Layer& layer);
std::optional<std::string> onednn_binary_row(const Layer& layer);
std::optional<std::string> onednn_attention_row(const Layer& layer);
std::optional<std::string> onednn_transposed_row(const Layer& layer);
std::optional<std::string> onednn_reduction_row(const Layer& layer);
std::optional<std::string> onednn_recurrent_row(const Layer& layer);
std::optional<std::string> openblas_product_row(const Layer& layer);
std::optional<std::string> cudnn_convolution_row(const Layer& layer);
std::optional<std::string> cudnn_backward_row(const Layer& layer);
std::optional<std::string> cudnn_pooling_row(const Layer& layer);
std::optional<std::string> cudnn_normalization_row(const Layer& layer);
std::optional<std::string> cudnn_softmax_row(const Layer& layer);
std::optional<std::string> cudnn_activation_row(const Layer& layer);
std::optional<std::string> cudnn_reduction_row(const Layer& layer);
std::optional<std::string> cudnn_recurrent_row(const Layer& layer);
std::optional<std::string> cudnn_graph_row(const Layer& layer);
std::optional<std::string> cudnn_attention_row(const Layer& layer);
std::optional<std::string> cublas_product_row(const Layer& layer);
std::optional<std::string> cublaslt_product_row(const Layer& layer);

}  // namespace benanza::codegen
