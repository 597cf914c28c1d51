// SPDX-License-Identifier: Apache-2.0
#include "banded.hpp"
#include "frame.hpp"
#include "tensor.hpp"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <set>
#include <utility>

namespace benanza::importer {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Longer literals were needed only for folding; layers need axes, pads, sizes, scales. Indices of gathers and scatters,
// grids and boxes are kept, since they determine what is read or overwritten. The import has at most `kept_integers` of
// each.
constexpr std::size_t most_ints = 1024, most_floats = 64;

/// The indices of gathers and scatters, and positions in images.
std::set<ValueId> places_of(const Graph& graph) {
  std::set<ValueId> places;
  for (const auto* nodes : {&graph.constant_nodes, &graph.nodes})
    for (const Node& node : *nodes)
      if ((node.op_type == "Gather" || node.op_type == "GatherElements" || node.op_type == "GatherND" ||
           node.op_type.starts_with("Scatter") || node.op_type == "GridSample" || node.op_type == "RoiAlign") &&
          node.has_input(1))
        places.insert(*node.inputs[1]);
  return places;
}

bool is_optional_output(const Node& node, std::size_t index) {
  if (node.outputs.size() < 2 || !node.bodies.empty()) return false;
  const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type, node.opset, node.domain);
  return schema != nullptr && index < schema->outputs().size() &&
         schema->outputs()[index].GetOption() == onnx::OpSchema::Optional;
}

std::vector<bool> used_values(Graph& graph, bool keep_numbers) {
  std::vector<bool> used(graph.values.size(), false);
  for (const auto id : graph.outputs) used[id] = true;
  std::vector<bool> live(graph.nodes.size(), false);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    for (const auto& output : node.outputs) live[i] = live[i] || (output && used[*output]);
    if (!live[i]) continue;
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (node.outputs[k] && !used[*node.outputs[k]]) {
        if (is_optional_output(node, k)) node.outputs[k].reset();
        else used[*node.outputs[k]] = true;
      }
    while (!node.outputs.empty() && !node.outputs.back()) node.outputs.pop_back();
    for (const auto& input : node.inputs)
      if (input) used[*input] = true;
    for (auto& body : node.bodies) {
      prune(body.graph, keep_numbers);
      for (const auto& [here, outer] : body.graph.captures) used[outer] = true;
    }
  }
  std::size_t next = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return !live[next++]; });
  return used;
}

}  // namespace

void prune(Graph& graph, bool keep_numbers) {
  std::vector<bool> used = used_values(graph, keep_numbers);
  for (const auto id : graph.inputs) used[id] = true;
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (used[i])
      for (const auto origin : graph.values[i].origins) used[origin] = true;

  std::vector<bool> kept(graph.constant_nodes.size(), false);
  for (std::size_t n = graph.constant_nodes.size(); n-- > 0;) {
    Node& node = graph.constant_nodes[n];
    for (auto& output : node.outputs) {
      if (output && used[*output]) kept[n] = true;
      else output.reset();
    }
    if (kept[n])
      for (const auto& input : node.inputs)
        if (input) used[*input] = true;
  }
  std::size_t next = 0;
  std::erase_if(graph.constant_nodes, [&](const Node&) { return !kept[next++]; });
  std::erase_if(graph.captures, [&](const auto& capture) { return !used[capture.first]; });

  const std::set<ValueId> places = places_of(graph);
  std::vector<ValueId> renumbered(graph.values.size(), none);
  std::size_t count = 0;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = count;
    if (i != count) graph.values[count] = std::move(graph.values[i]);
    auto& literal = graph.values[count].literal;
    if (literal && !graph.values[count].banded) graph.values[count].banded = banded_literal(graph.values[count]);
    const bool too_many =
        literal && !places.contains(i) && (literal->ints.size() > most_ints || literal->floats.size() > most_floats);
    if (!keep_numbers && too_many) {
      Value& value = graph.values[count];
      if (value.ramps.empty() && std::cmp_equal(literal->ints.size(), value.elements()))
        if (auto ramp = find_ramp(value.dims, [&](std::int64_t at) { return literal->ints[to_size(at)]; }))
          value.ramps = {std::move(*ramp)};
      literal.reset();
    }
    ++count;
  }
  graph.values.resize(count);

  for (auto& value : graph.values)
    for (auto& id : value.origins) id = renumbered[id];
  for (auto& id : graph.inputs) id = renumbered[id];
  for (auto& id : graph.outputs) id = renumbered[id];
  for (auto& capture : graph.captures) capture.first = renumbered[capture.first];
  for (auto& loop : graph.unrolled)
    for (auto& states : loop.states)
      for (auto& id : states) id = id && renumbered[*id] != none ? std::optional(renumbered[*id]) : std::nullopt;
  for (auto* nodes : {&graph.constant_nodes, &graph.nodes})
    for (auto& node : *nodes)
      for (auto* list : {&node.inputs, &node.outputs})
        for (auto& id : *list)
          if (id) id = renumbered[*id];
  for (auto& node : graph.nodes) {
    for (auto& body : node.bodies)
      for (auto& capture : body.graph.captures) capture.second = renumbered[capture.second];
  }
}

}  // namespace benanza::importer
