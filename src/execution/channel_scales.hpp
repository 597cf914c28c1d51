// SPDX-License-Identifier: Apache-2.0
// Quantised convolutions and products of ONNX in which a tensor has several scales or zero points: one for each channel
// or column of the weights, one for each row of the first factor of a product. Layers have one for each tensor.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool has_channel_scales(const Graph& graph, const Node& node);

/// The reference computes with the numbers minus their zero points. Differences of 8-bit integers are not rounded. What
/// is added, scaled and rounded differs from channel to channel. Throws NotExecutable if scales or zero points do not
/// belong to channels, columns or rows.
[[nodiscard]] NodeCall bind_channel_scales(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
