// SPDX-License-Identifier: Apache-2.0
// THE list of operators. A new one is a struct in the header of its family, and its name here.
#pragma once

#include <benanza/op/attention.hpp>
#include <benanza/op/collective.hpp>
#include <benanza/op/convolution.hpp>
#include <benanza/op/convolution_gradient.hpp>
#include <benanza/op/elementwise.hpp>
#include <benanza/op/elementwise_expression.hpp>
#include <benanza/op/elementwise_gradient.hpp>
#include <benanza/op/generation.hpp>
#include <benanza/op/indexing.hpp>
#include <benanza/op/indexing_scatter.hpp>
#include <benanza/op/loss.hpp>
#include <benanza/op/movement.hpp>
#include <benanza/op/movement_parts.hpp>
#include <benanza/op/normalization.hpp>
#include <benanza/op/normalization_gradient.hpp>
#include <benanza/op/opaque.hpp>
#include <benanza/op/optimizer.hpp>
#include <benanza/op/pooling.hpp>
#include <benanza/op/product.hpp>
#include <benanza/op/quantization.hpp>
#include <benanza/op/recurrent.hpp>
#include <benanza/op/reduction.hpp>
#include <benanza/op/sampling.hpp>
#include <benanza/op/transform.hpp>
#include <benanza/op/trees.hpp>

#include <variant>

namespace benanza {

/// One layer: an operator with everything that decides its speed. A closed variant, not a registry: exhaustive at
/// compile time, value semantics, usable in constexpr tables. The order is that of suites and reports.
using Layer =
    std::variant<op::Conv, op::ConvGradient, op::ConvTranspose, op::DeformConv, op::MatMul, op::Attention, op::Rotary,
                 op::Recurrent, op::RecurrentGradient, op::Einsum, op::Fourier, op::Pool, op::BatchNorm,
                 op::ChannelNorm, op::LayerNorm, op::GroupNorm, op::Lrn, op::Softmax, op::AxisNorm, op::Loss,
                 op::NormGradient, op::SoftmaxGradient, op::PoolGradient, op::LossGradient, op::GatherGradient,
                 op::ResizeGradient, op::OptimizerStep, op::UnaryGradient, op::Unary, op::Binary, op::Nary, op::Where,
                 op::Expression, op::Reduce, op::Cumulative, op::TopK, op::TreeEnsemble, op::Transpose, op::Concat,
                 op::Split, op::Slice, op::Pad, op::Trilu, op::Gather, op::GatherElements, op::GatherNd, op::OneHot,
                 op::ScatterElements, op::ScatterNd, op::TensorScatter, op::Expand, op::Tile, op::Resize,
                 op::GridSample, op::RoiAlign, op::Generate, op::Cast, op::Quantize, op::Dequantize, op::AllReduce,
                 op::ReduceScatter, op::AllGather, op::View, op::Opaque>;

}  // namespace benanza
