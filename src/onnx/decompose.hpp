// SPDX-License-Identifier: Apache-2.0
// Operators that do in one node what ONNX has several for.
#pragma once

#include <benanza/model/graph.hpp>

namespace benanza::importer {

/// Puts products, and the attention to their results, in the place of com.microsoft's Attention and QAttention. What a
/// node has beyond that stays as it is. Bodies of control flow are left alone.
void decompose(Graph& graph);

}  // namespace benanza::importer
