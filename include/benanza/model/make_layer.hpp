// SPDX-License-Identifier: Apache-2.0
// make_layer: the layer of a node.
#pragma once

#include <benanza/model/graph.hpp>
#include <benanza/op/ops.hpp>

namespace benanza {

/// The layer for a node: described by the first operator in the list that can describe it, otherwise Opaque. A node
/// that yields no element costs nothing, unless the number of elements depends on data: then it is Opaque. Throws
/// InputError for a node that lacks an input, has an attribute of another type than ONNX specifies, or is larger than
/// 2^63 bytes.
[[nodiscard]] Layer make_layer(const Node& node, const Graph& graph);
/// Whether an operator of the family may describe nodes of this type.
[[nodiscard]] bool may_be(Family family, const Node& node);

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/model/make_layer_inl.hpp>
#endif
