// SPDX-License-Identifier: Apache-2.0
// reads_all, writes_all: which inputs and outputs an operator without a kind reads and writes completely, whatever the
// data are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace benanza::detail {

/// Inputs of an operator from which data choose what is read, or of which it needs only the size.
struct PartlyRead {
  std::string_view type{};   ///< with its domain, except ai.onnx
  std::uint32_t inputs = 0;  ///< bit i: input i
};
[[nodiscard]] consteval std::uint32_t input_bits(auto... places) { return ((std::uint32_t{1} << places) | ...); }

inline constexpr std::array partly_read{
    PartlyRead{"Attention", input_bits(1, 2, 3, 4, 5)},  // sequences may end early
    PartlyRead{"Compress", input_bits(0)},
    PartlyRead{"DeformConv", input_bits(0)},
    PartlyRead{"Gather", input_bits(0)},
    PartlyRead{"GatherElements", input_bits(0)},
    PartlyRead{"GatherND", input_bits(0)},
    PartlyRead{"GridSample", input_bits(0)},
    PartlyRead{"MaxRoiPool", input_bits(0)},
    PartlyRead{"NonMaxSuppression", input_bits(0)},  // boxes of low scores
    PartlyRead{"OptionalHasElement", input_bits(0)},
    PartlyRead{"RandomNormalLike", input_bits(0)},
    PartlyRead{"RandomUniformLike", input_bits(0)},
    PartlyRead{"Resize", input_bits(0)},
    PartlyRead{"RoiAlign", input_bits(0)},
    PartlyRead{"RotaryEmbedding", input_bits(1, 2)},  // angles of the positions
    PartlyRead{"Slice", input_bits(0)},
    PartlyRead{"Upsample", input_bits(0)},
    PartlyRead{"Where", input_bits(1, 2)},
    PartlyRead{"ai.onnx.ml.TreeEnsemble", input_bits(0)},
    PartlyRead{"ai.onnx.ml.TreeEnsembleClassifier", input_bits(0)},
    PartlyRead{"ai.onnx.ml.TreeEnsembleRegressor", input_bits(0)},
    PartlyRead{"com.microsoft.Attention", input_bits(3, 4, 5)},
    PartlyRead{"com.microsoft.CropAndResize", input_bits(0, 3)},
    PartlyRead{"com.microsoft.DecoderAttention", input_bits(1, 3, 5, 6, 7)},
    PartlyRead{"com.microsoft.DecoderMaskedMultiHeadAttention", input_bits(3, 4, 5, 6, 9)},
    PartlyRead{"com.microsoft.DecoderMaskedSelfAttention", input_bits(3, 4, 5, 8)},
    PartlyRead{"com.microsoft.GatherND", input_bits(0)},
    PartlyRead{"com.microsoft.GridSample", input_bits(0)},
    PartlyRead{"com.microsoft.GroupQueryAttention", input_bits(3, 4, 7, 8, 10)},
    PartlyRead{"com.microsoft.LongformerAttention", input_bits(4, 5)},  // weights of global tokens
    PartlyRead{"com.microsoft.MRotaryEmbedding", input_bits(2, 3)},
    PartlyRead{"com.microsoft.PagedAttention", input_bits(3, 4, 7, 8, 9)},
    PartlyRead{"com.microsoft.QAttention", input_bits(5, 8)},
    PartlyRead{"com.microsoft.QEmbedLayerNormalization", input_bits(2, 3, 4)},
    PartlyRead{"com.microsoft.QLinearWhere", input_bits(1, 4)},
    PartlyRead{"com.microsoft.RelativePositionBias", input_bits(0)},
    PartlyRead{"com.microsoft.RotaryEmbedding", input_bits(2, 3)},
    PartlyRead{"com.microsoft.SparseAttention", input_bits(3, 4, 5, 6, 9, 10)},
    PartlyRead{"com.microsoft.WordConvEmbedding", input_bits(3)}};  // rows of characters

/// Whether an operator without a kind reads all of input `i`. False if data may choose a part of it. For unknown
/// domains nothing is certain.
[[nodiscard]] constexpr bool reads_all(std::string_view type, std::size_t i) {
  const std::string_view domain = type.substr(0, type.rfind('.') + 1);
  if (!domain.empty() && !domain.starts_with("ai.onnx.") && !domain.starts_with("com.microsoft.") &&
      domain != "benanza.")
    return false;
  const auto found =
      std::find_if(partly_read.begin(), partly_read.end(), [&](const PartlyRead& each) { return each.type == type; });
  return found == partly_read.end() || i >= 32 || (found->inputs >> i & 1) == 0;
}

/// Whether it writes all of result `i`. False for a cache that it may update in place.
[[nodiscard]] constexpr bool writes_all(std::string_view type, std::size_t i) {
  constexpr std::array<std::string_view, 7> keep_caches{
      "com.microsoft.Attention",           "com.microsoft.DecoderMaskedMultiHeadAttention",
      "com.microsoft.GroupQueryAttention", "com.microsoft.DecoderMaskedSelfAttention",
      "com.microsoft.PagedAttention",      "com.microsoft.QAttention",
      "com.microsoft.SparseAttention"};
  return i == 0 || std::find(keep_caches.begin(), keep_caches.end(), type) == keep_caches.end();
}

}  // namespace benanza::detail
