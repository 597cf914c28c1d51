// SPDX-License-Identifier: Apache-2.0
// Quantised convolutions and products of ONNX of which a tensor has several scales or zero points: weights one for each
// channel or column, the first factor of a product one for each row. Layers have one for each tensor.
#pragma once

#include "bind_node.hpp"

namespace benanza::execution {

[[nodiscard]] bool has_channel_scales(const Graph& graph, const Node& node);

/// The reference computes with the numbers less their zero points, which differences of 8-bit integers allow without
/// rounding. What is added, scaled and rounded differs from channel to channel. Throws NotExecutable where scales or
/// zero points are of something else than channels, columns and rows.
[[nodiscard]] BoundNode bind_channel_scales(const Graph& graph, const Node& node, const Layer& layer);

}  // namespace benanza::execution
