// SPDX-License-Identifier: Apache-2.0
// Operators that combine in one node what takes several nodes of ONNX.
#pragma once

#include <benanza/model/graph.hpp>

#include <vector>

namespace benanza::importer {

/// Appends ONNX's own nodes that compute the same as a node of ai.onnx.ml. Returns false and appends nothing if there
/// are none. The numbers of its attributes are not kept: they become constants of which only the shape is known.
bool append_ml_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Appends the products of a MoE or QMoE for the k experts of each token, in the case in which all tokens have the same
/// ones. Returns false and appends nothing for other nodes, and if the graph is `executable`: data choose the experts.
bool append_expert_parts(Graph& graph, const Node& node, std::vector<Node>& nodes, bool executable);

/// Appends products of two tensors that compute the same as an Einsum of three and more. Constants whose product is
/// computed before a request become one constant of which only the shape is known, unless the graph is `executable`.
/// Returns false and appends nothing for other nodes.
bool append_einsum_parts(Graph& graph, const Node& node, std::vector<Node>& nodes, bool executable);

/// Appends sums, products with 1 / count, maxima and minima of two tensors that compute the same as a Sum, Mean, Max or
/// Min of tensors of several shapes. Returns false and appends nothing for other nodes.
bool append_nary_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Appends an InstanceNormalization between reshapes that computes the same as a GroupNormalization with one scale for
/// each group. Returns false and appends nothing for other nodes.
bool append_normalization_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Appends the training nodes that compute the same as a node of ONNX Runtime's training graphs. Returns false and
/// appends nothing if there are none.
bool append_training_parts(Graph& graph, const Node& node, std::vector<Node>& nodes);

/// Replaces com.microsoft's Attention and QAttention by products and attention on their results, operators of
/// ai.onnx.ml by ONNX's own, ONNX's functions of several tensors by functions of two, group norms with a scale for each
/// group by instance norms, and ONNX Runtime's gradients by those of this project. All other nodes stay unchanged. Does
/// not change bodies of control flow.
void decompose(Graph& graph, bool executable);

}  // namespace benanza::importer
