// SPDX-License-Identifier: Apache-2.0
// tree_operands: the trees of a node of ai.onnx.ml as operands of its layer.
#pragma once

#include "backend/node_vector.hpp"
#include "backend/reference_support.hpp"
#include <benanza/model/graph.hpp>
#include <benanza/op/tree_ensemble.hpp>

#include <vector>

namespace benanza::test {

/// x, and what the node's attributes say of branches and leaves. Throws Skip where the layer knows less than they say:
/// trees that are not complete, other comparisons than <=, base values.
[[nodiscard]] std::vector<Buffer> tree_operands(const Node& node, const op::TreeEnsemble& forest, const Numbers& x);

}  // namespace benanza::test
