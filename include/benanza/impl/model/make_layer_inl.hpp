// SPDX-License-Identifier: Apache-2.0
// What make_layer computes: the list of operators, searched for one that can describe the node.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

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

/// The layer of a node if this operator can describe it.
template <class Op>
[[nodiscard]] std::optional<Layer> describe(const Node& node, const Graph& graph) {
  static_assert(Operator<Op>, "an operator lacks a part, or its fields() does not visit every member");
  std::optional<Layer> layer;
  if (const auto op = Op::from(node, graph); op && op->consistent()) layer.emplace(std::in_place_type<Op>, *op);
  return layer;
}

/// The operators that may describe a node of each type, in the order of the list.
using Describers =
    std::unordered_map<std::string_view, std::vector<std::optional<Layer> (*)(const Node&, const Graph&)>>;
[[nodiscard]] inline const Describers& describers() {
  static const Describers all = [] {
    Describers result;
    for_each_operator([&]<class Op>(std::type_identity<Op>) {
      if constexpr (!std::is_same_v<Op, op::Opaque>)
        for (const std::string_view type : Op::onnx_types) result[type].push_back(&describe<Op>);
    });
    return result;
  }();
  return all;
}

[[nodiscard]] inline Layer first_description(const Node& node, const Graph& graph, std::string_view type) {
  if (const auto found = describers().find(type); found != describers().end())
    for (const auto& describe : found->second)
      if (auto layer = describe(node, graph)) return *std::move(layer);
  static_assert(Operator<op::Opaque>);
  return *op::Opaque::from(node, graph);
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
  const auto is_string = [&graph](const auto& id) { return id && graph.value(*id).type == DataType::string; };
  const bool may_have_strings = std::any_of(node.inputs.begin(), node.inputs.end(), is_string) ||
                                std::any_of(node.outputs.begin(), node.outputs.end(), is_string);
  if (may_have_strings && has_strings(layer) && !is_free(layer)) return *op::Opaque::from(node, graph);
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

BENANZA_INLINE bool may_be(Family family, const Node& node) {
  static const auto types = [] {
    std::map<Family, std::unordered_set<std::string_view>> result;
    for_each_operator([&]<class Op>(std::type_identity<Op>) {
      if constexpr (!std::is_same_v<Op, op::Opaque>)
        result[Op::family].insert(Op::onnx_types.begin(), Op::onnx_types.end());
    });
    return result;
  }();
  const auto found = types.find(family);
  return found != types.end() && found->second.contains(detail::onnx_type(node));
}

}  // namespace benanza
