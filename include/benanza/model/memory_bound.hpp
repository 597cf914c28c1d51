// SPDX-License-Identifier: Apache-2.0
// is_memory_bound: whether its bytes say what an operator costs that no kind describes.
#pragma once

#include <benanza/op/ops.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace benanza {

namespace detail {

/// Operators without a kind that move, compare, count or draw elements, or do a few operations on each.
inline constexpr std::array<std::string_view, 48> moving_operators{"Bernoulli",
                                                                   "Compress",
                                                                   "ConcatFromSequence",
                                                                   "ImageDecoder",
                                                                   "MaxUnpool",
                                                                   "Multinomial",
                                                                   "NonZero",
                                                                   "Optional",
                                                                   "OptionalGetElement",
                                                                   "OptionalHasElement",
                                                                   "RandomNormal",
                                                                   "RandomNormalLike",
                                                                   "RandomUniform",
                                                                   "RandomUniformLike",
                                                                   "RegexFullMatch",
                                                                   "ReverseSequence",
                                                                   "SequenceAt",
                                                                   "SequenceConstruct",
                                                                   "SequenceEmpty",
                                                                   "SequenceErase",
                                                                   "SequenceInsert",
                                                                   "SequenceLength",
                                                                   "Shape",
                                                                   "Size",
                                                                   "SplitToSequence",
                                                                   "StringConcat",
                                                                   "StringNormalizer",
                                                                   "StringSplit",
                                                                   "TfIdfVectorizer",
                                                                   "Unique",
                                                                   "ai.onnx.ml.ArrayFeatureExtractor",
                                                                   "ai.onnx.ml.Binarizer",
                                                                   "ai.onnx.ml.CastMap",
                                                                   "ai.onnx.ml.CategoryMapper",
                                                                   "ai.onnx.ml.DictVectorizer",
                                                                   "ai.onnx.ml.FeatureVectorizer",
                                                                   "ai.onnx.ml.Imputer",
                                                                   "ai.onnx.ml.LabelEncoder",
                                                                   "ai.onnx.ml.Normalizer",
                                                                   "ai.onnx.ml.OneHotEncoder",
                                                                   "ai.onnx.ml.Scaler",
                                                                   "com.microsoft.EmbedLayerNormalization",
                                                                   "com.microsoft.ExpandDims",
                                                                   "com.microsoft.Pad",
                                                                   "com.microsoft.Trilu",
                                                                   "com.microsoft.Unique",
                                                                   "com.microsoft.nchwc.ReorderInput",
                                                                   "com.microsoft.nchwc.ReorderOutput"};

/// Gradients that training makes: those with products have kinds.
[[nodiscard]] constexpr bool is_gradient(std::string_view onnx_type) {
  return onnx_type.starts_with("benanza.") && !onnx_type.starts_with("benanza.Conv");
}

/// Whether a kind that has no products lists the type: it does a few operations on each element at the most.
template <class... Ops>
[[nodiscard]] constexpr bool is_elementwise_at_most(std::string_view onnx_type, const std::variant<Ops...>*) {
  const auto lists = [&]<class Op>(const Op*) {
    return Op::family != Family::convolution && Op::family != Family::product &&
           std::find(Op::onnx_types.begin(), Op::onnx_types.end(), onnx_type) != Op::onnx_types.end();
  };
  return (lists(static_cast<const Ops*>(nullptr)) || ...);
}

}  // namespace detail

/// Whether the bytes of an operator determine its cost, even if no kind describes it: it moves elements, or does a few
/// operations on each. The arithmetic of other operators is unknown, and their bytes are only a part of the cost.
/// `onnx_type` includes the domain, except ai.onnx.
[[nodiscard]] constexpr bool is_memory_bound(std::string_view onnx_type) {
  return std::find(detail::moving_operators.begin(), detail::moving_operators.end(), onnx_type) !=
             detail::moving_operators.end() ||
         detail::is_gradient(onnx_type) ||
         detail::is_elementwise_at_most(onnx_type, static_cast<const Layer*>(nullptr));
}

}  // namespace benanza
