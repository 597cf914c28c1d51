// SPDX-License-Identifier: Apache-2.0
// Imports for training: which constants of the file are no parameters, and what the exporter has done to those that
// are.
#include "build.hpp"
#include "proto.hpp"
#include <benanza/operators/lookup.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace benanza::importer {
namespace {

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether an exporter of PyTorch has made up the name of a constant: a parameter that it has not changed keeps its
/// own.
bool is_made_up(std::string_view name) {
  return name.starts_with("val_") || name.starts_with("onnx::") || name.starts_with("/");
}

/// Whether PyTorch has made a constant of a tensor in the network's code (`torch.tensor([0.5])`). Parameters and
/// buffers have names of the network's own.
bool is_literal(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  constexpr std::array<std::string_view, 4> literals{"lifted_tensor_", "c_lifted_tensor_", "_tensor_constant",
                                                     "_lifted_tensor_constant"};
  return std::any_of(literals.begin(), literals.end(), [&](std::string_view start) {
    return name.starts_with(start) && name.find_first_not_of("0123456789", start.size()) == std::string_view::npos;
  });
}

/// Whether a constant may be the scale or the bias of channels.
bool is_by_channel(const Dims& dims) {
  return std::count_if(dims.begin(), dims.end(), [](std::int64_t size) { return size > 1; }) < 2;
}

/// Whether a constant adds no elements to a value when it broadcasts.
bool broadcasts_into(const Dims& constant, const Dims& value) {
  return constant.size() <= value.size() &&
         std::equal(constant.rbegin(), constant.rend(), value.rbegin(),
                    [](std::int64_t size, std::int64_t of_value) { return size == 1 || size == of_value; });
}

/// Whether a node has subtracted a constant from a value.
bool is_centered(const Scope& scope, const onnx::NodeProto* maker) {
  if (maker == nullptr || maker->op_type() != "Sub" || !maker->domain().empty()) return false;
  const auto mean = find_value(scope, maker->input(1));
  return mean && scope.frame.graph.values[*mean].constant;
}

/// Whether a node reads an input as weights or biases, whatever their numbers are. The bias of a product that is
/// written as a sum has one dimension.
bool is_weight(const std::string& type, int i, std::size_t rank) {
  if (type == "Transpose") return true;  // most often of the weights of a product
  if (type == "Add") return rank < 2;
  return i > 0 && facts_of(type).is(Trait::weights);
}

}  // namespace

/// Whether the node fills a shape that is stored in the file, as for a weight that was left out of the file. The shapes
/// of masks and initial states are computed instead.
bool Builder::has_stored_shape(const Step& step) {
  if (step.node.op_type != "ConstantOfShape" || !step.node.domain.empty() || step.proto.input_size() < 1) return false;
  const auto& stored = step.scope.source.initializer();
  return std::any_of(stored.begin(), stored.end(), [&](const auto& one) { return one.name() == step.proto.input(0); });
}

/// Whether the node stands for a weight that training changes. Zeros, ones and numbers that hide a score do not count,
/// since models compute masks from them.
bool Builder::fills_weight(const Step& step) {
  if (!has_stored_shape(step)) return false;
  const auto* value = find_attribute(step.proto, "value");
  if (value == nullptr || !value->has_t()) return false;
  const Constant number = decode(value->t());
  return is_float(number.type) && number.literal && number.literal->floats.size() == 1 &&
         number.literal->floats[0] != 0 && number.literal->floats[0] != 1 && number.literal->floats[0] > hidden_score;
}

/// Masks and tables of positions are no parameters, unless a node reads them as weights. Tensors that the network's
/// code contains are none.
///
/// Initial states of zeros are no parameters: those of recurrent layers, the first operand of a product with weights,
/// and a factor of the size of the other factor, such as the cell of an LSTM that is written out. Nor are the ones and
/// zeros of an InstanceNormalization that has no parameters.
void Builder::settle_untrained(Scope& scope, const onnx::NodeProto& proto) {
  if (!proto.domain().empty()) return;
  Frame& frame = scope.frame;
  const auto id_of = [&](int i) {
    return i < proto.input_size() && !proto.input(i).empty() ? find_value(scope, proto.input(i)) : std::nullopt;
  };
  const auto is = [&](int i, ConstantKind kind) {
    const auto id = id_of(i);
    return id && frame.facts[*id].kind == kind && frame.graph.values[*id].dims.size() > 0;
  };
  const auto is_mask = [&](int i) {
    return is(i, ConstantKind::mask) || (is(i, ConstantKind::equal) && frame.facts[*id_of(i)].number <= hidden_score);
  };
  const auto settle = [&](int i) { frame.graph.values[*id_of(i)].trained = false; };
  const std::string& type = proto.op_type();
  if (is_one_of(type, {"Add", "Sub", "Mul", "Div", "Max", "Min"})) settle_elementwise(scope, proto);
  for (int i = 0; i < proto.input_size(); ++i)
    if (const auto id = id_of(i); id && is_literal(frame.graph.values[*id].name)) settle(i);
  for (int i = 0; i < proto.input_size(); ++i)
    if ((is_mask(i) || is(i, ConstantKind::table)) && !is_weight(type, i, frame.graph.values[*id_of(i)].dims.size()))
      settle(i);
  if (facts_of(type).is(Trait::recurrent)) {
    for (const int state : {5, 6})
      if (is(state, ConstantKind::zeros)) settle(state);
  } else if (is_one_of(type, {"MatMul", "Gemm"})) {
    const auto other = id_of(1);
    if (is(0, ConstantKind::zeros) && other && frame.graph.values[*other].constant) settle(0);
  } else if (type == "Mul") {
    for (const int factor : {0, 1}) {
      const auto other = id_of(1 - factor);
      if (!is(factor, ConstantKind::zeros) || !other) continue;
      const auto& dims = frame.graph.values[*id_of(factor)].dims;
      if (dims.size() > 1 && dims == frame.graph.values[*other].dims) settle(factor);
    }
  } else if (type == "InstanceNormalization" && is(1, ConstantKind::ones) && is(2, ConstantKind::zeros) &&
             is_made_up(proto.input(1)) && is_made_up(proto.input(2))) {
    settle(1);
    settle(2);
  }
}

/// Whether no parameter has a part in a value: a constant that is not trained, or computed from the model's inputs.
bool Builder::is_before_weights(const Frame& frame, ValueId id) {
  const Value& value = frame.graph.values[id];
  return value.constant ? !value.trained : frame.facts[id].before_weights;
}

/// Constants that only one element-wise node reads.
///
/// What is subtracted from an input of the model, or divides it, before any parameter is read standardises the input:
/// a mean, a deviation, and the reciprocal of the deviation by which the difference is multiplied. Equal numbers are no
/// parameters if they are limits in Max and Min, if they are subtracted, or if they are as large as the other operand
/// including its batch. Scales of channels may begin as ones, positions as zeros.
void Builder::settle_elementwise(Scope& scope, const onnx::NodeProto& proto) {
  Frame& frame = scope.frame;
  auto& values = frame.graph.values;
  const std::string& type = proto.op_type();
  if (proto.input_size() != 2) return;
  const std::array<std::optional<ValueId>, 2> ids{find_value(scope, proto.input(0)), find_value(scope, proto.input(1))};
  if (!ids[0] || !ids[1]) return;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    Value& constant = values[*ids[i]];
    const Value& other = values[*ids[1 - i]];
    if (!constant.constant || !constant.trained || other.constant) continue;
    if (constant.name != proto.input(static_cast<int>(i)) || consumers_of(scope, constant.name).size() > 1) continue;
    const onnx::NodeProto* const maker = frame.facts[*ids[1 - i]].maker;
    const auto made_by = [&](std::string_view by) { return maker != nullptr && maker->op_type() == by; };
    const bool subtracted = i == 1 && (type == "Sub" || type == "Div");
    const bool uniform = is_uniform(frame.facts[*ids[i]].kind);
    const bool has_batch = constant.dims.size() > 1 && constant.dims == other.dims && constant.dims[0] > 1;
    // A normalisation that is written out divides before it multiplies by its scale.
    const bool is_scale = made_by("Div") || made_by("Mul");
    // Distances to learned centres have more elements than the input.
    const bool standardizes = frame.facts[*ids[1 - i]].before_weights && broadcasts_into(constant.dims, other.dims) &&
                              (subtracted || (type == "Mul" && is_centered(scope, maker)));
    const bool limits = uniform && is_one_of(type, {"Max", "Min"});
    const bool is_state =
        uniform && has_batch &&
        (type == "Div" || (type == "Mul" && !is_scale) || (type == "Add" && constant.dims.size() > 2));
    if (standardizes || limits || is_state || (uniform && subtracted && type == "Sub")) constant.trained = false;
  }
}

/// Whether a constant with several numbers may be none of the network's parameters, although nothing shows that it is
/// none: weights of products that follow a formula, and what divides, limits or is subtracted. Of what is multiplied or
/// added, only what is larger than a scale or a bias of channels.
bool is_doubtful(const std::string& type, int i, const Dims& dims, ConstantKind kind) {
  if (element_count(dims) < 2) return false;
  const bool large = !is_by_channel(dims);
  if (is_weight(type, i, dims.size())) return large && (kind == ConstantKind::table || kind == ConstantKind::mask);
  if (type == "Sub" || type == "Div") return i == 1;
  return is_one_of(type, {"Max", "Min"}) || (large && (type == "Mul" || (type == "Add" && is_uniform(kind))));
}

/// An export for inference has other parameters than the network: batch normalisations are folded into convolutions,
/// parameters with equal numbers are merged, and what the network computes once is a constant. The first two show in
/// names and in vectors of ones or zeros that layers share. The third has a name that the exporter has made up, and no
/// layer reads it as weights.
void Builder::warn_of_parameters() {
  Graph& graph = root_.graph;
  std::size_t folded = 0;
  std::map<ValueId, std::set<ValueId>> weights_beside;  // by vector of ones or zeros: the weights of its readers
  std::set<ValueId> merged;
  std::set<std::string> computed, doubtful;
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.has_input(i)) continue;
      const Value& value = graph.value(*node.inputs[i]);
      if (!value.constant || !value.trained) continue;
      // --frozen takes the name in the file.
      const std::string& name = value.origins.size() == 1 ? graph.value(value.origins.front()).name : value.name;
      if (is_made_up(name) && !is_by_channel(value.dims) &&
          !is_weight(node.op_type, static_cast<int>(i), value.dims.size()))
        computed.insert(name);
      else if (*node.inputs[i] < root_.facts.size() &&
               is_doubtful(node.op_type, static_cast<int>(i), value.dims, root_.facts[*node.inputs[i]].kind))
        doubtful.insert(name);
    }
    const bool convolution = is_one_of(node.op_type, {"Conv", "ConvTranspose"});
    if (convolution && node.has_input(1) && node.has_input(2)) {
      const std::string &weights = graph.value(*node.inputs[1]).name, &bias = graph.value(*node.inputs[2]).name;
      if (weights.starts_with("onnx::Conv") || bias == weights + "_bias") ++folded;
    }
    const bool norm = facts_of(node).is(Trait::normalizes);
    if (!convolution && !norm && node.op_type != "Gemm") continue;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      if (!node.has_input(i)) continue;
      const ValueId id = *node.inputs[i];
      const ConstantKind kind = root_.facts[id].kind;
      if (!graph.value(id).trained || (kind != ConstantKind::zeros && kind != ConstantKind::ones)) continue;
      // A norm has no weights of its own. A layer that runs several times shares its weights, too.
      auto& beside = weights_beside[id];
      beside.insert(norm ? *node.outputs[0] : *node.inputs[1]);
      if (beside.size() > 1) merged.insert(id);
    }
  }
  const std::string again = "; export the network in training mode to count its own parameters";
  if (folded > 0)
    graph.warnings.push_back(
        "convolutions with weights that the exporter has computed, as it does to fold batch "
        "normalisations: " +
        std::to_string(folded) + again);
  if (!merged.empty())
    graph.warnings.push_back(
        "vectors of ones or zeros that layers share, since the exporter has merged equal parameters: " +
        std::to_string(merged.size()) + again);
  const auto count_as_parameters = [&](const std::string& what, const std::set<std::string>& names) {
    if (names.empty()) return;
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "'" : ", '") + name + "'";
    graph.warnings.push_back(what + " count as parameters: " + std::to_string(names.size()) + " (" + list +
                             "); --frozen NAME leaves one out");
  };
  count_as_parameters("constants that the exporter has computed", computed);
  count_as_parameters("constants that may not be trained", doubtful);
}

}  // namespace benanza::importer
