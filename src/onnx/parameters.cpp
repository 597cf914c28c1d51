// SPDX-License-Identifier: Apache-2.0
// Imports for training: which constants of the file are no parameters, and what the exporter has done to those that
// are.
#include "build.hpp"

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

/// Whether a node reads an input as weights or biases, whatever their numbers are. The bias of a product that is
/// written as a sum has one dimension.
bool is_weight(const std::string& type, int i, std::size_t rank) {
  if (type == "Transpose") return true;  // most often of the weights of a product
  if (type == "Add") return rank < 2;
  return i > 0 && is_one_of(type, {"Conv", "ConvTranspose", "DeformConv", "Gemm", "MatMul", "LSTM", "GRU", "RNN",
                                   "BatchNormalization", "InstanceNormalization", "GroupNormalization",
                                   "LayerNormalization", "RMSNormalization", "PRelu"});
}

}  // namespace

/// Masks and tables of positions are no parameters, unless a node reads them as weights. Tensors that the network's
/// code contains are none.
///
/// Initial states of zeros are no parameters: those of recurrent layers, the first operand of a product with weights,
/// and a factor of the size of the other factor, such as the cell of an LSTM that is written out. Nor are the ones and
/// zeros of an InstanceNormalization that has no parameters.
void Builder::settle_untrained(const Scope& scope, const onnx::NodeProto& proto) {
  if (!proto.domain().empty()) return;
  Frame& frame = scope.frame;
  const auto id_of = [&](int i) {
    return i < proto.input_size() && !proto.input(i).empty() ? find_value(scope, proto.input(i)) : std::nullopt;
  };
  const auto is = [&](int i, ConstantKind kind) {
    const auto id = id_of(i);
    return id && frame.facts[*id].kind == kind && frame.graph.values[*id].dims.size() > 0;
  };
  const auto settle = [&](int i) { frame.graph.values[*id_of(i)].trained = false; };
  const std::string& type = proto.op_type();
  for (int i = 0; i < proto.input_size(); ++i)
    if (const auto id = id_of(i); id && is_literal(frame.graph.values[*id].name)) settle(i);
  for (int i = 0; i < proto.input_size(); ++i)
    if ((is(i, ConstantKind::mask) || is(i, ConstantKind::table)) &&
        !is_weight(type, i, frame.graph.values[*id_of(i)].dims.size()))
      settle(i);
  if (is_one_of(type, {"LSTM", "GRU", "RNN"})) {
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

/// An export for inference has other parameters than the network: batch normalisations are folded into convolutions,
/// parameters with equal numbers are merged, and what the network computes once is a constant. The first two show in
/// names and in vectors of ones or zeros that layers share. The third has a name that the exporter has made up, and no
/// layer reads it as weights.
void Builder::warn_of_parameters() {
  Graph& graph = root_.graph;
  std::size_t folded = 0;
  std::map<ValueId, std::set<ValueId>> weights_beside;  // by vector of ones or zeros: the weights of its readers
  std::set<ValueId> merged;
  std::set<std::string> computed;
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.has_input(i)) continue;
      const Value& value = graph.value(*node.inputs[i]);
      if (value.constant && value.trained && is_made_up(value.name) && !is_by_channel(value.dims) &&
          !is_weight(node.op_type, static_cast<int>(i), value.dims.size()))
        computed.insert(value.name);
    }
    const bool convolution = is_one_of(node.op_type, {"Conv", "ConvTranspose"});
    if (convolution && node.has_input(1) && node.has_input(2)) {
      const std::string &weights = graph.value(*node.inputs[1]).name, &bias = graph.value(*node.inputs[2]).name;
      if (weights.starts_with("onnx::Conv") || bias == weights + "_bias") ++folded;
    }
    const bool norm = is_one_of(node.op_type, {"BatchNormalization", "InstanceNormalization", "GroupNormalization",
                                               "LayerNormalization", "RMSNormalization"});
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
  if (!computed.empty())
    graph.warnings.push_back(
        "constants that the exporter has computed count as parameters: " + std::to_string(computed.size()) + " ('" +
        *computed.begin() + (computed.size() > 1 ? "', ..." : "'") + "); --frozen NAME leaves one out");
}

}  // namespace benanza::importer
