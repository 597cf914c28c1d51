// SPDX-License-Identifier: Apache-2.0
// is_memory_bound: whether the bytes determine the cost of an operator that no kind describes.
#pragma once

#include <benanza/op/ops.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>
#include <variant>

namespace benanza {

namespace detail {

/// Operators without a kind that move, compare, count or draw elements, or do a few operations on each.
inline constexpr std::array<std::string_view, 47> moving_operators{"Bernoulli",
                                                                   "Compress",
                                                                   "ConcatFromSequence",
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
                                                                   "benanza.Dropout",
                                                                   "benanza.GatherNDGrad",
                                                                   "com.microsoft.EmbedLayerNormalization",
                                                                   "com.microsoft.ExpandDims",
                                                                   "com.microsoft.Pad",
                                                                   "com.microsoft.Trilu",
                                                                   "com.microsoft.Unique",
                                                                   "com.microsoft.nchwc.ReorderInput",
                                                                   "com.microsoft.nchwc.ReorderOutput"};

template <class Op, class... Kinds>
inline constexpr bool is_kind_of = (std::same_as<Op, Kinds> || ...);

/// Kinds that do a few operations per element, whatever their parameters are: they have no products, windows, samples,
/// transforms or trees.
template <class Op>
inline constexpr bool does_little =
    !(Op::family == Family::convolution || Op::family == Family::product ||
      is_kind_of<Op, op::Fourier, op::GridSample, op::Pool, op::PoolGradient, op::RoiAlign, op::TreeEnsemble>);

/// Whether a kind that does little work per element lists the type.
template <class... Ops>
[[nodiscard]] constexpr bool is_elementwise_at_most(std::string_view onnx_type, const std::variant<Ops...>*) {
  const auto lists = [&]<class Op>(const Op*) {
    return does_little<Op> &&
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
         detail::is_elementwise_at_most(onnx_type, static_cast<const Layer*>(nullptr));
}

}  // namespace benanza
