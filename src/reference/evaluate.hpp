// SPDX-License-Identifier: Apache-2.0
// The loops, one overload for each operator. They return the requested elements before the epilogue.
#pragma once

#include "query.hpp"

#include <vector>

namespace benanza::reference {

using Elements = std::vector<double>;

// convolution.cpp
Elements compute(const op::Conv& conv, const Query& query);
Elements compute(const op::ConvTranspose& conv, const Query& query);
// convolution_gradient.cpp
Elements compute(const op::ConvGradient& gradient, const Query& query);
// gradients.cpp
Elements compute(const op::UnaryGradient& gradient, const Query& query);
Elements compute(const op::SoftmaxGradient& gradient, const Query& query);
Elements compute(const op::NormGradient& gradient, const Query& query);
// training.cpp
Elements compute(const op::PoolGradient& gradient, const Query& query);
Elements compute(const op::LossGradient& gradient, const Query& query);
Elements compute(const op::GatherGradient& gradient, const Query& query);
Elements compute(const op::OptimizerStep& step, const Query& query);
// transform.cpp
Elements compute(const op::Fourier& fourier, const Query& query);
// loss.cpp
Elements compute(const op::Loss& loss, const Query& query);
// trees.cpp
Elements compute(const op::TreeEnsemble& forest, const Query& query);
// sampling.cpp
Elements compute(const op::GridSample& sample, const Query& query);
Elements compute(const op::RoiAlign& align, const Query& query);
Elements compute(const op::DeformConv& conv, const Query& query);
// product.cpp
Elements compute(const op::MatMul& product, const Query& query);
Elements compute(const op::Einsum& einsum, const Query& query);
// attention.cpp
Elements compute(const op::Attention& attention, const Query& query);
// attention_rotary.cpp
Elements compute(const op::Rotary& rotary, const Query& query);
// recurrent.cpp
Elements compute(const op::Recurrent& recurrent, const Query& query);
// recurrent_gradient.cpp
Elements compute(const op::RecurrentGradient& gradient, const Query& query);
// pooling.cpp
Elements compute(const op::Pool& pool, const Query& query);
// normalization.cpp
Elements compute(const op::BatchNorm& norm, const Query& query);
Elements compute(const op::LayerNorm& norm, const Query& query);
Elements compute(const op::GroupNorm& norm, const Query& query);
Elements compute(const op::Lrn& lrn, const Query& query);
Elements compute(const op::Softmax& softmax, const Query& query);
Elements compute(const op::AxisNorm& norm, const Query& query);
Elements compute(const op::ChannelNorm& norm, const Query& query);
// elementwise.cpp
Elements compute(const op::Unary& unary, const Query& query);
Elements compute(const op::Binary& binary, const Query& query);
Elements compute(const op::Nary& nary, const Query& query);
Elements compute(const op::Where& where, const Query& query);
// elementwise_expression.cpp
Elements compute(const op::Expression& expression, const Query& query);
// reduction.cpp
Elements compute(const op::Reduce& reduce, const Query& query);
Elements compute(const op::TopK& top_k, const Query& query);
Elements compute(const op::Cumulative& cumulative, const Query& query);
// movement.cpp
Elements compute(const op::Transpose& transpose, const Query& query);
Elements compute(const op::Concat& concat, const Query& query);
Elements compute(const op::Split& split, const Query& query);
Elements compute(const op::Slice& slice, const Query& query);
Elements compute(const op::Pad& pad, const Query& query);
Elements compute(const op::Expand& expand, const Query& query);
Elements compute(const op::Tile& tile, const Query& query);
Elements compute(const op::View& view, const Query& query);
Elements compute(const op::Trilu& trilu, const Query& query);
Elements compute(const op::Generate& generate, const Query& query);
// indexing.cpp
Elements compute(const op::Gather& gather, const Query& query);
Elements compute(const op::GatherElements& gather, const Query& query);
Elements compute(const op::GatherNd& gather, const Query& query);
Elements compute(const op::ScatterElements& scatter, const Query& query);
Elements compute(const op::ScatterNd& scatter, const Query& query);
Elements compute(const op::TensorScatter& scatter, const Query& query);
Elements compute(const op::OneHot& one_hot, const Query& query);
// sampling_resize.cpp
Elements compute(const op::Resize& resize, const Query& query);
Elements compute(const op::ResizeGradient& gradient, const Query& query);
// quantization.cpp
Elements compute(const op::Cast& cast, const Query& query);
Elements compute(const op::Quantize& quantize, const Query& query);
Elements compute(const op::Dequantize& dequantize, const Query& query);
// collective.cpp: results of the first rank
Elements compute(const op::AllReduce& exchange, const Query& query);
Elements compute(const op::ReduceScatter& exchange, const Query& query);
Elements compute(const op::AllGather& exchange, const Query& query);
// reference.cpp: throws UsageError
Elements compute(const op::Opaque& opaque, const Query& query);

}  // namespace benanza::reference
