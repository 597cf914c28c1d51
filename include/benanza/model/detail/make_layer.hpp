// SPDX-License-Identifier: Apache-2.0
// What make_layer computes: the list of operators, searched for one that can describe the node.
#pragma once

#include <benanza/detail/compiled.hpp>
#include <benanza/detail/node.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace benanza {

namespace detail {

/// Only products can be layers of tf32: for others the type is f32.
inline void store_tf32_as_f32(Layer& layer) {
  const auto change = [](auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, DataType>) field = stored_type(field);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::optional<DataType>>)
      if (field) field = stored_type(*field);
  };
  std::visit(
      [&](auto& op) {
        using Op = std::remove_cvref_t<decltype(op)>;
        Op::fields(op, [&](std::string_view, auto& field) { change(field); });
      },
      layer);
}

template <std::size_t I = 0>
[[nodiscard]] Layer first_description(const Node& node, const Graph& graph, std::string_view type) {
  using Op = std::variant_alternative_t<I, Layer>;
  static_assert(Operator<Op>, "an operator lacks a part, or its fields() does not visit every member");
  if constexpr (I + 1 == std::variant_size_v<Layer>) {
    static_assert(std::is_same_v<Op, op::Opaque>, "the last operator takes every node");
    return Layer(std::in_place_index<I>, *Op::from(node, graph));
  } else {
    if (std::find(Op::onnx_types.begin(), Op::onnx_types.end(), type) != Op::onnx_types.end())
      if (const auto op = Op::from(node, graph); op && op->consistent()) return Layer(std::in_place_index<I>, *op);
    return first_description<I + 1>(node, graph, type);
  }
}

/// The layer of a node whose output has no element at its least size, because its size depends on data. A view stays a
/// view. For all other nodes only the bytes are known: the node that determines the size reads its operands; nodes that
/// follow from it, or that move a part of them, may touch nothing.
[[nodiscard]] inline Layer least_layer(const Node& node, const Graph& graph) {
  const std::string type = onnx_type(node);
  const auto& movers = op::View::onnx_types;
  const bool moves = std::find(movers.begin(), movers.end(), type) != movers.end();
  if (moves)
    if (const auto view = op::View::from(node, graph); view && view->rule != op::ViewRule::no_op) return *view;
  op::Opaque least = *op::Opaque::from(node, graph);
  const bool reads = !moves && std::any_of(node.outputs.begin(), node.outputs.end(), [&](const auto& output) {
    return output && graph.value(*output).unknown_size;
  });
  if (!reads) least.read_bytes = least.constant_bytes = 0;
  return least;
}

/// Whether a layer reads or writes strings, which no library computes with: only its bytes are known. Labels that a
/// classifier looks up at the end are not among its operands.
[[nodiscard]] inline bool has_strings(const Layer& layer) {
  const Operands all = operands(layer);
  const auto is_string = [](const Operand& operand) { return operand.type == DataType::string; };
  return std::any_of(all.inputs.begin(), all.inputs.end(), is_string) ||
         std::any_of(all.outputs.begin(), all.outputs.end(), is_string);
}

/// The layer of a node whose operands have types that layers support.
[[nodiscard]] inline Layer described_layer(const Node& node, const Graph& graph) {
  Layer layer = first_description(node, graph, onnx_type(node));
  if (has_strings(layer) && !is_free(layer)) return *op::Opaque::from(node, graph);
  return layer;
}

}  // namespace detail

BENANZA_INLINE Layer make_layer(const Node& node, const Graph& graph) {
  bool empty = node.has_output(0), known = true;
  for (const auto& output : node.outputs) {
    empty = empty && (!output || graph.value(*output).elements() == 0);
    known = known && (!output || !graph.value(*output).data_dependent);
  }
  if (empty && known)
    return op::View{.type = stored_type(graph.output(node, 0).type), .rule = op::ViewRule::no_op, .x = {0}};
  Layer layer = empty ? detail::least_layer(node, graph) : detail::described_layer(node, graph);
  if (!is_product(layer)) detail::store_tf32_as_f32(layer);
  return layer;
}

}  // namespace benanza
