// SPDX-License-Identifier: Apache-2.0
// Operators that do in one node what ONNX has several for.
#pragma once

#include <benanza/model/graph.hpp>

#include <vector>

namespace benanza::importer {

/// Appends ONNX's own nodes that do what a node of ai.onnx.ml does; false where there are none, and nothing is
/// appended. The numbers of its attributes are not kept: they become constants of which only the shape is known.
bool append_ml_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Appends sums, products with 1 / count, maxima and minima of two tensors that do what a Sum, Mean, Max or Min of
/// tensors of several shapes does; false for other nodes, and nothing is appended.
bool append_nary_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Appends the nodes of training that do what one of ONNX Runtime's training graphs does; false where there are none,
/// and nothing is appended.
bool append_training_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Puts products, and the attention to their results, in the place of com.microsoft's Attention and QAttention, and
/// ONNX's own operators in that of ai.onnx.ml's, functions of two tensors in that of ONNX's functions of several, and
/// gradients in that of ONNX Runtime's. What a node has beyond that stays as it is. Bodies of control flow are left
/// alone.
void decompose(Graph& graph);

}  // namespace benanza::importer
