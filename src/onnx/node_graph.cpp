// SPDX-License-Identifier: Apache-2.0
#include "build.hpp"
#include "proto.hpp"
#include <benanza/onnx/node_graph.hpp>

#include <onnx/defs/schema.h>

#include <string>
#include <type_traits>
#include <utility>

namespace benanza {

namespace {

std::string name_of(ValueId id) { return "v" + std::to_string(id); }

/// A tensor as an attribute: f32 if its numbers are floats, i64 if they are integers.
onnx::TensorProto attribute_tensor(const Literal& literal) {
  const bool floating = !literal.floats.empty();
  const auto count = static_cast<std::int64_t>(floating ? literal.floats.size() : literal.ints.size());
  return *importer::encode(floating ? DataType::f32 : DataType::i64, {count}, literal);
}

void add_attribute(onnx::NodeProto& node, const std::string& key, const Attribute& value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(key);
  std::visit(
      [&](const auto& given) {
        using T = std::decay_t<decltype(given)>;
        using Proto = onnx::AttributeProto;
        if constexpr (std::is_same_v<T, std::int64_t>) {
          attribute.set_type(Proto::INT);
          attribute.set_i(given);
        } else if constexpr (std::is_same_v<T, double>) {
          attribute.set_type(Proto::FLOAT);
          attribute.set_f(static_cast<float>(given));
        } else if constexpr (std::is_same_v<T, std::string>) {
          attribute.set_type(Proto::STRING);
          attribute.set_s(given);
        } else if constexpr (std::is_same_v<T, Literal>) {
          attribute.set_type(Proto::TENSOR);
          *attribute.mutable_t() = attribute_tensor(given);
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          attribute.set_type(Proto::INTS);
          for (const auto number : given) attribute.add_ints(number);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          attribute.set_type(Proto::FLOATS);
          for (const auto number : given) attribute.add_floats(static_cast<float>(number));
        } else {
          attribute.set_type(Proto::STRINGS);
          for (const auto& text : given) attribute.add_strings(text);
        }
      },
      value);
}

/// Nodes that the importer has inserted in place of another have no version. They get the newest one.
int version_of(const Node& node) {
  if (node.opset > 0) return node.opset;
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = known.find(node.domain);
  return range == known.end() ? 1 : range->second.second;
}

/// The message for an input's literal. Empty if shape rules cannot read it.
std::optional<onnx::TensorProto> literal_of(const Value& value) {
  return value.literal ? importer::encode(value.type, value.dims, *value.literal) : std::nullopt;
}

}  // namespace

Graph make_node_graph(const Node& node, const std::map<ValueId, Value>& inputs) {
  onnx::ModelProto model;
  auto& version = *model.add_opset_import();
  version.set_domain(node.domain);
  version.set_version(version_of(node));
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::NodeProto& proto = *graph.add_node();
  proto.set_name(node.name);
  proto.set_domain(node.domain);
  proto.set_op_type(node.op_type);
  for (const auto& [key, value] : node.attributes) add_attribute(proto, key, value);
  for (const auto& id : node.inputs) proto.add_input(id ? name_of(*id) : std::string());
  for (const auto& id : node.outputs) {
    proto.add_output(id ? name_of(*id) : std::string());
    if (id) graph.add_output()->set_name(name_of(*id));
  }

  importer::Binding binding{.executable = true};
  graph.mutable_input()->Reserve(static_cast<int>(inputs.size()));  // bound inputs point to them
  for (const auto& [id, value] : inputs) {
    if (auto tensor = literal_of(value)) {
      tensor->set_name(name_of(id));
      *graph.add_initializer() = std::move(*tensor);
      continue;
    }
    auto& input = *graph.add_input();
    input.set_name(name_of(id));
    binding.inputs.push_back({.proto = &input, .type = value.type, .dims = value.dims});
  }
  importer::Visits visits(model);
  Graph result = importer::Builder(model, binding, visits).build();
  for (Node& made : result.nodes)  // the message has rounded the 64-bit thresholds of trees
    if (made.domain == "ai.onnx.ml" && made.op_type == node.op_type) made.attributes = node.attributes;
  for (const auto& [id, value] : inputs)
    for (const ValueId input : result.inputs)
      if (result.values[input].name == name_of(id)) result.values[input].constant = value.constant;
  return result;
}

}  // namespace benanza
