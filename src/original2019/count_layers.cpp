// SPDX-License-Identifier: Apache-2.0
#include "layer_time.hpp"
#include <benanza/error.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/original2019/rules.hpp>

#include <sstream>
#include <variant>

namespace benanza::original2019 {

namespace {

template <class T>
void put(std::ostream& out, const T& value) {
  out << value;
}
template <class T>
void put(std::ostream& out, const std::vector<T>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : "x") << values[i];
}
void put(std::ostream& out, const Literal& value) {
  put(out, value.ints);
  put(out, value.floats);
}

/// Operator, type and shape of each input, and all attributes.
std::string key_of(const Node& node, const Graph& graph) {
  std::ostringstream text;
  text << node.domain << (node.domain.empty() ? "" : ".") << node.op_type;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    text << '/';
    if (!node.has_input(i)) continue;
    const Value& value = graph.input(node, i);
    text << name(value.type) << ':';
    put(text, value.dims);
  }
  for (const auto& [attribute, value] : node.attributes) {
    text << '/' << attribute << '=';
    std::visit([&text](const auto& each) { put(text, each); }, value);
  }
  return std::move(text).str();
}

bool makes_constants(const Node& node) { return node.op_type == "Constant" || node.op_type == "ConstantOfShape"; }

}  // namespace

CountedLayers count_layers(const Graph& graph, const Results* results) {
  std::vector<std::string> warnings;
  std::vector<LayerTime> printed;
  if (results && !results->printed.empty()) printed = printed_times(graph, *results, warnings);
  CountedLayers layers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.bodies.empty())
      throw InputError(graph.file + ": node '" + node.name + "' (" + node.op_type +
                       "): the rules of 2019 know no control flow");
    if (makes_constants(node)) continue;
    CountedLayer& layer = layers[key_of(node, graph)];
    ++layer.count;
    if (!results || layer.time) continue;
    const auto time = printed.empty() ? layer_time(node, graph, *results) : printed[i];
    if (time.status == Status::measured) layer.time = time.time;
  }
  return layers;
}

}  // namespace benanza::original2019
