// SPDX-License-Identifier: Apache-2.0
// com.microsoft: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "decompose.hpp"

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/node_parts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::importer {
namespace {

/// The inputs of an operator that computes projections and attention. The first is [batch, tokens, hidden], the second
/// the weights [hidden, q + k + v].
struct Projection {
  std::string_view onnx_type;
  std::string_view domain, product;   ///< domain and type of the operator that multiplies the two
  std::vector<std::size_t> operands;  ///< inputs of the product, in its order
  bool adds_bias;                     ///< input 2 is one of them
  std::size_t padding, past;
  std::optional<std::size_t> score_bias{};
};

const std::array<Projection, 2>& projections() {
  static const std::array<Projection, 2> rows{
      Projection{"com.microsoft.Attention", "", "MatMul", {0, 1}, false, 3, 4, 5},
      Projection{
          "com.microsoft.QAttention", "com.microsoft", "MatMulIntegerToFloat", {0, 1, 3, 4, 6, 7, 2}, true, 5, 8}};
  return rows;
}

using Ids = std::vector<std::optional<ValueId>>;

/// Input `i`, if it is present.
std::optional<ValueId> given(const Node& node, std::optional<std::size_t> i) {
  return i && node.has_input(*i) ? node.inputs[*i] : std::nullopt;
}

ValueId add_value(Graph& graph, Value value) {
  graph.values.push_back(std::move(value));
  return graph.values.size() - 1;
}

/// Appends nodes that compute the same as `node`; false if there are none.
bool append_parts(Graph& graph, const Node& node, const Projection& row, std::vector<Node>& nodes) {
  if (!node.has_input(0) || !node.has_input(1) || !node.has_output(0)) return false;
  const detail::Dims input = graph.input(node, 0).dims, weights = graph.input(node, 1).dims;
  if (input.size() != 3 || weights.size() != 2) return false;
  if (node.attribute<std::int64_t>("past_present_share_buffer", 0) != 0) return false;  // its contents depend on data
  const Value projected{.type = graph.output(node, 0).type, .dims = {input[0], input[1], weights[1]}};
  const auto made = [&](std::string_view suffix) {
    Value value = projected;
    value.name = node.name + std::string(suffix);
    return add_value(graph, std::move(value));
  };

  Ids operands;
  for (const std::size_t i : row.operands) operands.push_back(given(node, i));
  ValueId all = made("/qkv");
  nodes.push_back({.name = node.name + std::string(product_part),
                   .domain = std::string(row.domain),
                   .op_type = std::string(row.product),
                   .inputs = std::move(operands),
                   .outputs = {all},
                   .bodies = {}});
  if (const auto bias = given(node, 2); bias && !row.adds_bias) {
    const ValueId sum = made("/qkv_bias");
    nodes.push_back({.name = node.name + std::string(bias_part),
                     .op_type = "Add",
                     .inputs = {all, bias},
                     .outputs = {sum},
                     .bodies = {}});
    all = sum;
  }

  Node attention{.name = node.name,
                 .domain = "com.microsoft",
                 .op_type = "MultiHeadAttention",
                 .opset = node.opset,
                 .inputs = {all, std::nullopt, std::nullopt, std::nullopt, given(node, row.padding),
                            given(node, row.score_bias), given(node, row.past)},
                 .outputs = node.outputs,
                 .bodies = {}};
  for (const auto* key : {"num_heads", "qkv_hidden_sizes", "scale", "unidirectional"})
    if (const auto found = node.attributes.find(key); found != node.attributes.end())
      attention.attributes.insert(*found);
  nodes.push_back(std::move(attention));
  return true;
}

}  // namespace

void decompose(Graph& graph, bool executable) {
  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size());
  for (Node& node : graph.nodes) {
    const auto& rows = projections();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&, type = detail::onnx_type(node)](const auto& r) { return r.onnx_type == type; });
    const bool split = row != rows.end()
                           ? append_parts(graph, node, *row, nodes)
                           : append_ml_parts(graph, node, nodes) || append_nary_parts(graph, node, nodes) ||
                                 append_normalization_parts(graph, node, nodes) ||
                                 append_einsum_parts(graph, node, nodes, executable) ||
                                 append_expert_parts(graph, node, nodes, executable) ||
                                 append_training_parts(graph, node, nodes);
    if (!split) nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace benanza::importer
