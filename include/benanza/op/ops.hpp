// SPDX-License-Identifier: Apache-2.0
// THE list of operators. A new operator is its header and one line in each half of this file.
#pragma once

#include <benanza/op/attention.hpp>
#include <benanza/op/axis_norm.hpp>
#include <benanza/op/batch_norm.hpp>
#include <benanza/op/binary.hpp>
#include <benanza/op/cast.hpp>
#include <benanza/op/channel_norm.hpp>
#include <benanza/op/collective.hpp>
#include <benanza/op/concat.hpp>
#include <benanza/op/conv.hpp>
#include <benanza/op/conv_gradient.hpp>
#include <benanza/op/conv_transpose.hpp>
#include <benanza/op/cumulative.hpp>
#include <benanza/op/deform_conv.hpp>
#include <benanza/op/dequantize.hpp>
#include <benanza/op/einsum.hpp>
#include <benanza/op/expand.hpp>
#include <benanza/op/fourier.hpp>
#include <benanza/op/gather.hpp>
#include <benanza/op/gather_elements.hpp>
#include <benanza/op/gather_gradient.hpp>
#include <benanza/op/gather_nd.hpp>
#include <benanza/op/generate.hpp>
#include <benanza/op/grid_sample.hpp>
#include <benanza/op/group_norm.hpp>
#include <benanza/op/layer_norm.hpp>
#include <benanza/op/loss.hpp>
#include <benanza/op/loss_gradient.hpp>
#include <benanza/op/lrn.hpp>
#include <benanza/op/mat_mul.hpp>
#include <benanza/op/nary.hpp>
#include <benanza/op/norm_gradient.hpp>
#include <benanza/op/one_hot.hpp>
#include <benanza/op/opaque.hpp>
#include <benanza/op/optimizer_step.hpp>
#include <benanza/op/pad.hpp>
#include <benanza/op/pool.hpp>
#include <benanza/op/pool_gradient.hpp>
#include <benanza/op/quantize.hpp>
#include <benanza/op/recurrent.hpp>
#include <benanza/op/recurrent_gradient.hpp>
#include <benanza/op/reduce.hpp>
#include <benanza/op/resize.hpp>
#include <benanza/op/resize_gradient.hpp>
#include <benanza/op/roi_align.hpp>
#include <benanza/op/rotary.hpp>
#include <benanza/op/scatter_elements.hpp>
#include <benanza/op/scatter_nd.hpp>
#include <benanza/op/slice.hpp>
#include <benanza/op/softmax.hpp>
#include <benanza/op/softmax_gradient.hpp>
#include <benanza/op/split.hpp>
#include <benanza/op/tensor_scatter.hpp>
#include <benanza/op/tile.hpp>
#include <benanza/op/top_k.hpp>
#include <benanza/op/transpose.hpp>
#include <benanza/op/tree_ensemble.hpp>
#include <benanza/op/trilu.hpp>
#include <benanza/op/unary.hpp>
#include <benanza/op/unary_gradient.hpp>
#include <benanza/op/view.hpp>
#include <benanza/op/where.hpp>

#include <cstddef>
#include <utility>
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
                 op::Reduce, op::Cumulative, op::TopK, op::TreeEnsemble, op::Transpose, op::Concat, op::Split,
                 op::Slice, op::Pad, op::Trilu, op::Gather, op::GatherElements, op::GatherNd, op::OneHot,
                 op::ScatterElements, op::ScatterNd, op::TensorScatter, op::Expand, op::Tile, op::Resize,
                 op::GridSample, op::RoiAlign, op::Generate, op::Cast, op::Quantize, op::Dequantize, op::AllReduce,
                 op::ReduceScatter, op::AllGather, op::View, op::Opaque>;

namespace detail {

/// Returns what `of` returns for the operator in a layer. For so many operators `std::visit` takes several times as
/// long to compile.
template <class Result, class Ask>
[[nodiscard]] Result ask(const Layer& layer, Ask of) {
  Result result{};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((layer.index() == I && (result = of(*std::get_if<I>(&layer)), true)) || ...));
  }
  (std::make_index_sequence<std::variant_size_v<Layer>>{});
  return result;
}

}  // namespace detail

}  // namespace benanza
