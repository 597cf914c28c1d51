// SPDX-License-Identifier: Apache-2.0
// tree_operands: the trees of a node of ai.onnx.ml as operands of its layer.
#pragma once

#include <benanza/execution/tensor.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/op/tree_ensemble.hpp>

#include <vector>

namespace benanza::execution {

/// What the node's attributes say of branches and leaves: the operands behind x. Throws NotExecutable where the layer
/// knows less than they say: trees that are not complete, other comparisons than <=, base values.
[[nodiscard]] std::vector<Tensor> tree_operands(const Node& node, const op::TreeEnsemble& forest);

}  // namespace benanza::execution
