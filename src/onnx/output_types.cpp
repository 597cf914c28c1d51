// SPDX-License-Identifier: Apache-2.0
// The types and shapes of a node's outputs: by rule, by the library's inference, or as the file declares them.
#include "build.hpp"
#include "fold.hpp"
#include "guard.hpp"
#include "infer.hpp"
#include "proto.hpp"
#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace benanza::importer {

namespace {

/// Attention outputs its keys and values after those of a cache, with the heads first. The library leaves out their
/// types if there is no cache.
void add_keys_and_values(const Node& node, std::span<const Value* const> inputs, std::vector<onnx::TypeProto>& types) {
  const auto heads = node.attribute<std::int64_t>("kv_num_heads", 0);
  for (std::size_t i = 1; i < 3 && i < types.size() && i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || element_type(types[i])) continue;
    std::vector<std::int64_t> dims = inputs[i]->dims;
    if (dims.size() == 3 && heads > 0 && dims[2] % heads == 0) dims = {dims[0], heads, dims[1], dims[2] / heads};
    if (dims.size() != 4) continue;
    if (const std::size_t past = i + 3; past < inputs.size() && inputs[past] != nullptr) {
      if (inputs[past]->dims.size() != 4) continue;
      dims[2] += inputs[past]->dims[2];
    }
    types[i] = make_type(inputs[i]->type, dims);
  }
}

/// Sizes that scales give, in the precision of the scales, as ONNX Runtime and exporters compute them: 5 x 2.6 is 13.
/// The library computes the product of 5 and the nearest f32 to 2.6 in double precision, and rounds it down to 12.
void scale_in_single_precision(const Node& node, std::span<const Value* const> inputs,
                               std::vector<onnx::TypeProto>& types) {
  if (!node.domain.empty() || (node.op_type != "Resize" && node.op_type != "Upsample") || types.empty()) return;
  const std::size_t at = node.op_type == "Resize" && node.opset >= 11 ? 2 : 1;
  auto scales = node.attribute<std::vector<double>>("scales", {});
  if (at < inputs.size() && inputs[at] != nullptr && inputs[at]->literal) scales = inputs[at]->literal->floats;
  auto axes = node.attribute<std::vector<std::int64_t>>("axes", {});
  const auto rank = inputs.empty() || inputs[0] == nullptr ? 0 : inputs[0]->dims.size();
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  auto& shape = *types[0].mutable_tensor_type()->mutable_shape();
  if (scales.empty() || scales.size() != axes.size() || static_cast<std::size_t>(shape.dim_size()) != rank) return;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::size_t i = normal_axis(axes[k], rank);
    const float size = static_cast<float>(inputs[0]->dims[i]) * static_cast<float>(scales[k]);
    shape.mutable_dim(static_cast<int>(i))->set_dim_value(static_cast<std::int64_t>(std::floor(size)));
  }
}

}  // namespace

std::vector<const Value*> Builder::operands(const Step& step) {
  std::vector<const Value*> inputs;
  for (const auto& id : step.inputs) inputs.push_back(id ? &step.scope.frame.graph.values[*id] : nullptr);
  return inputs;
}

/// ONNX Runtime writes models for a machine whose registers hold 4, 8 or 16 numbers. The padded weights show how many.
std::int64_t Builder::channel_block() {
  if (channel_block_ != 0) return channel_block_;
  std::unordered_set<std::string_view> weights;
  for (const auto& node : model_.graph().node())
    if (node.domain() == "com.microsoft.nchwc" && node.op_type() == "Conv") weights.insert(node.input(1));
  channel_block_ = 16;
  if (weights.empty()) return channel_block_;
  for (const auto& initializer : model_.graph().initializer()) {
    if (!weights.contains(initializer.name())) continue;
    const Dims dims = decode(initializer).dims;
    if (!dims.empty()) channel_block_ = std::gcd(channel_block_, dims.front());
  }
  return channel_block_;
}

Builder::Types Builder::rule_types(const Step& step) {
  const auto inputs = operands(step);
  RuleArguments arguments{.node = step.node, .inputs = inputs, .channel_block = channel_block()};
  for (const auto& attribute : step.proto.attribute()) {
    onnx::TypeProto type;
    type.mutable_tensor_type()->set_elem_type(attribute.t().data_type());
    if (const auto element = element_type(type); attribute.has_t() && element)
      arguments.tensors[attribute.name()] = *element;
  }
  arguments.declared = [&](std::size_t i) -> Dims {
    const auto& names = step.proto.output();
    const auto output = static_cast<int>(i);
    if (output >= names.size() || names[output].empty()) return {};
    const auto type = declared_type(step, names[output]);
    if (!type || !type->has_tensor_type()) return {};
    Dims dims;
    for (const auto& dim : type->tensor_type().shape().dim()) {
      if (!dim.has_dim_value()) return {};
      dims.push_back(dim.dim_value());
    }
    return dims;
  };
  Types types;
  for (const auto& result : step.op.rule(arguments)) {
    onnx::TypeProto& type = types.emplace_back();
    if (!result) continue;
    type = make_type(result->type, result->dims);
    if (!result->sequence) continue;
    type.mutable_tensor_type()->clear_shape();
    onnx::TypeProto sequence;
    *sequence.mutable_sequence_type()->mutable_elem_type() = type;
    type = std::move(sequence);
  }
  return types;
}

Builder::Types Builder::inferred_types(Step& step) {
  try {
    if (step.op.rule != nullptr) return rule_types(step);
    if (step.op.schema == nullptr || !step.op.schema->has_type_and_shape_inference_function()) return {};
    Types types = infer_types(*step.op.schema, step.proto, step.scope.frame, step.inputs);
    if (step.node.domain.empty() && step.node.op_type == "Attention")
      add_keys_and_values(step.node, operands(step), types);
    scale_in_single_precision(step.node, operands(step), types);
    return types;
  } catch (const std::exception&) {
    // If sizes that depend on data are assumed to be 0, a rule may find too few elements. What the file declares is
    // then used.
    if (!step.data_dependent) throw;
    return {};
  }
}

Builder::Types Builder::types_of(Step& step) {
  guard_node(step.node, *step.op.facts, operands(step), static_cast<std::size_t>(step.proto.output_size()));
  const bool own = step.node.domain.empty();
  if (own && step.node.op_type == "Reshape" && step.inputs.size() == 2) return reshape_types(step);
  if (own && step.node.op_type == "Expand") return expand_types(step);
  return inferred_types(step);
}

std::optional<onnx::TypeProto> Builder::declared_type(const Step& step, const std::string& name) {
  Scope& scope = step.scope;
  if (scope.declared.empty())
    for (const auto* list : {&scope.source.value_info(), &scope.source.output()})
      for (const auto& info : *list) scope.declared[info.name()] = &info;
  const auto found = scope.declared.find(name);
  if (found == scope.declared.end() || !found->second->has_type()) return std::nullopt;
  onnx::TypeProto type = found->second->type();
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return type;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size(); ++i) {
    auto& dim = *shape.mutable_dim(i);
    if (dim.has_dim_value() && dim.dim_value() < 0) dim.clear_value();  // how an exporter writes an unknown size
    if (const auto bound = binding_.dims.find(dim.dim_param()); dim.has_dim_param() && bound != binding_.dims.end())
      dim.set_dim_value(bound->second);
    else if (i == 0 && binding_.leads && binding_.old_batch && dim.has_dim_value() &&
             dim.dim_value() == *binding_.old_batch)
      dim.set_dim_value(binding_.batch);
  }
  return type;
}

/// What the unknown shape of a result depends on: data, or a small constant of integers that is not known, as its
/// external data cannot be read.
std::string Builder::unknown_cause(const Step& step) {
  for (const auto& input : step.inputs) {
    if (!input) continue;
    const Value& value = step.scope.frame.graph.values[*input];
    if (value.constant && !value.literal && !is_float(value.type) && value.elements() <= kept_integers)
      return "it depends on the constant '" + value.name +
             "', whose numbers cannot be read (external data has to lie beside the model)";
  }
  return "it depends on data";
}

/// The value that an output becomes. A size that stays unknown is an error, unless it depends on data. It is then the
/// least possible size, 0.
Value Builder::settled(Step& step, const std::string& name, onnx::TypeProto& type) {
  const auto complete = [](const onnx::TypeProto& t) {
    if (!element_type(t)) return false;
    if (!t.has_tensor_type()) return true;
    if (!t.tensor_type().has_shape()) return false;
    const auto& dims = t.tensor_type().shape().dim();
    return std::all_of(dims.begin(), dims.end(), [](const auto& dim) { return dim.has_dim_value(); });
  };
  const bool data_sized = step.op.facts->is(Trait::sized_by_data);
  const bool may_guess = data_sized || step.data_dependent || step.scope.frame.inside_loop;
  Value value{.name = name, .data_dependent = step.data_dependent || data_sized};
  if (!complete(type))
    if (auto declared = declared_type(step, name);
        declared && (complete(*declared) || !element_type(type) || (may_guess && !type.tensor_type().has_shape()))) {
      if (!data_sized || !type.tensor_type().has_shape()) type = std::move(*declared);
    }
  const auto element = element_type(type);
  if (step.op.schema == nullptr && step.op.rule == nullptr && !complete(type) && !may_guess)
    throw InputError("unknown operator of domain '" + step.node.domain +
                     "', and value_info does not give the shape of its output '" + name +
                     "': add its type and shape to the file's value_info");
  if (!element) throw InputError("the type of its output '" + name + "' is not known");
  value.type = *element;
  if (!type.has_tensor_type()) {
    value.dims = {0};
    value.data_dependent = true;
    return value;
  }
  if (!type.tensor_type().has_shape())
    throw InputError("the shape of its output '" + name + "' is not known, not even its rank: " + unknown_cause(step));
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size(); ++i) {
    auto& dim = *shape.mutable_dim(i);
    if (!dim.has_dim_value()) {
      if (!may_guess)
        throw InputError("dimension " + std::to_string(i) + " of its output '" + name +
                         "' is not known: " + unknown_cause(step));
      dim.set_dim_value(0);
      value.data_dependent = value.unknown_size = true;
    }
    if (dim.dim_value() < 0 || dim.dim_value() > std::int64_t{1} << 48)
      throw ShapeError("dimension " + std::to_string(i) + " of its output '" + name + "' is " +
                       std::to_string(dim.dim_value()) + ", expected 0 to 2^48");
    value.dims.push_back(dim.dim_value());
  }
  try {
    (void)value.elements();
  } catch (const InputError& error) {
    throw InputError("output '" + name + "' of shape " + shape_text(value.dims) + ": " + error.what());
  }
  return value;
}

}  // namespace benanza::importer
