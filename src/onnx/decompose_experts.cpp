// SPDX-License-Identifier: Apache-2.0
// MoE and QMoE of com.microsoft: each token goes through the k best experts.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MoE
#include "decompose.hpp"
#include "parts.hpp"

#include <algorithm>

namespace benanza::importer {
namespace {

/// Inputs of the three layers of an expert.
struct ExpertInputs {
  std::string_view op_type;
  std::size_t weights[3], biases[3];
  std::size_t scales[3];  ///< 0: the weights are not quantised
};
constexpr ExpertInputs experts_of[] = {{"MoE", {2, 4, 6}, {3, 5, 7}, {0, 0, 0}},
                                       {"QMoE", {2, 5, 8}, {4, 7, 10}, {3, 6, 9}}};

/// Products with the weights of k experts for all tokens. Which experts a token needs depends on data. The fewest
/// weights are read if all tokens need the same ones.
class Experts {
 public:
  Experts(Graph& graph, const Node& node, const ExpertInputs& inputs)
      : graph_(graph), node_(node), inputs_(inputs), parts_(graph, node) {}

  bool append_to(std::vector<Node>& nodes) {
    const Integers x = graph_.input(node_, 0).dims, router = graph_.input(node_, 1).dims;
    if (x.empty() || router.size() != 2) return false;
    type_ = graph_.input(node_, 0).type;
    hidden_ = x.back();
    tokens_ = router[0];
    experts_ = router[1];
    chosen_ = node_.attribute<std::int64_t>("k", 1);
    if (chosen_ < 1 || chosen_ > experts_ || tokens_ * hidden_ != graph_.input(node_, 0).elements()) return false;
    const std::int64_t expanded = columns(0, hidden_), inner = columns(1, hidden_), gated = columns(2, hidden_);
    const std::string activation = node_.attribute<std::string>("activation_type", "relu");
    const bool halves = activation == "swiglu" && expanded == 2 * inner;
    if (inner < 1 || (expanded != inner && !halves) || (node_.has_input(inputs_.weights[2]) && gated != inner))
      return false;

    for (std::size_t i = 0; i < 3; ++i)
      if (inputs_.scales[i] != 0 && node_.has_input(inputs_.weights[i]) &&
          !graph_.input(node_, inputs_.weights[i]).constant)
        return false;

    const ValueId gates = routed();
    ValueId y = *node_.inputs[0];
    if (x.size() != 2) y = reshaped(y, {tokens_, hidden_});
    const ValueId rows = y;
    y = layer(0, rows, hidden_, expanded);
    if (halves) {
      // The gate and the value lie next to each other or one after the other: reading either costs nothing.
      const ValueId gate = half(y, 0, inner), value = half(y, inner, inner);
      y = parts_.put("Mul", {swish(gate), value}, {chosen_, tokens_, inner}, {}, type_);
    } else if (activation == "silu" || activation == "swiglu") {
      y = swish(y);
    } else if (activation == "relu" || activation == "gelu") {
      y = parts_.put(activation == "relu" ? "Relu" : "Gelu", {y}, {chosen_, tokens_, inner}, {}, type_);
    } else if (activation != "identity") {
      return false;
    }
    if (node_.has_input(inputs_.weights[2]))
      y = parts_.put("Mul", {y, layer(2, rows, hidden_, inner)}, {chosen_, tokens_, inner}, {}, type_);
    y = layer(1, y, inner, hidden_);
    y = parts_.put("Mul", {y, gates}, {chosen_, tokens_, hidden_}, {}, type_);
    y = parts_.put("ReduceSum", {y, integers({0})}, {tokens_, hidden_}, {{"keepdims", std::int64_t{0}}}, type_);
    if (x.size() != 2) y = reshaped(y, x);
    parts_.give(y, 0);
    parts_.append_to(nodes);
    return true;
  }

 private:
  /// Elements of the weights of one expert divided by `rows`; 0 if there are none.
  [[nodiscard]] std::int64_t columns(std::size_t i, std::int64_t rows) const {
    if (!node_.has_input(inputs_.weights[i]) || rows < 1) return 0;
    const Value& weights = graph_.input(node_, inputs_.weights[i]);
    if (weights.dims.size() != 3 || weights.dims[0] != experts_) return 0;
    const std::int64_t packed =
        inputs_.scales[i] == 0
            ? 1
            : 8 / std::clamp<std::int64_t>(node_.attribute<std::int64_t>("expert_weight_bits", 4), 1, 8);
    return weights.elements() / experts_ * packed / rows;
  }

  [[nodiscard]] ValueId integers(Integers numbers) {
    const std::int64_t size = count(numbers);
    return parts_.constant({size}, {.ints = std::move(numbers), .floats = {}}, DataType::i64);
  }
  [[nodiscard]] ValueId reshaped(ValueId x, const Integers& dims) {
    return parts_.put("Reshape", {x, integers(dims)}, dims, {}, parts_.value(x).type);
  }
  [[nodiscard]] ValueId half(ValueId x, std::int64_t begin, std::int64_t size) {
    return parts_.put("Slice", {x, integers({begin}), integers({begin + size}), integers({2})},
                      {chosen_, tokens_, size}, {}, type_);
  }
  [[nodiscard]] ValueId swish(ValueId x) { return parts_.put("Swish", {x}, Integers(parts_.value(x).dims), {}, type_); }

  /// What k experts of input `i` are, as a tensor of these dimensions.
  [[nodiscard]] ValueId of_chosen(std::size_t i, std::size_t scales, const Integers& dims) {
    const Value given = graph_.input(node_, i);
    if (!given.constant || given.trained) {
      Integers some = given.dims;
      some[0] = chosen_;
      const ValueId first = parts_.put("Slice", {*node_.inputs[i], integers({0}), integers({chosen_}), integers({0})},
                                       some, {}, given.type);
      return reshaped(first, dims);
    }
    const ValueId made = parts_.constant(dims, {}, type_);
    if (scales == 0 || !node_.has_input(scales)) return made;
    for (const std::size_t stored : {i, scales}) {
      Value part = graph_.input(node_, stored);
      part.dims[0] = chosen_;
      const ValueId origin = parts_.constant(part.dims, {}, part.type);
      graph_.values[made].origins.push_back(origin);
    }
    return made;
  }

  /// x times the weights of one layer of k experts, and their biases.
  [[nodiscard]] ValueId layer(std::size_t i, ValueId x, std::int64_t rows, std::int64_t width) {
    const ValueId weights = of_chosen(inputs_.weights[i], inputs_.scales[i], {chosen_, rows, width});
    ValueId y = parts_.put("MatMul", {x, weights}, {chosen_, tokens_, width}, {}, type_);
    if (const std::size_t bias = inputs_.biases[i]; node_.has_input(bias))
      y = parts_.put("Add", {y, of_chosen(bias, 0, {chosen_, 1, width})}, {chosen_, tokens_, width}, {}, type_);
    return y;
  }

  /// The weight of each chosen expert for each token: a softmax over all experts, or over the chosen ones.
  [[nodiscard]] ValueId routed() {
    const DataType type = graph_.input(node_, 1).type;
    const bool normalized = node_.attribute<std::int64_t>("normalize_routing_weights", 0) != 0;
    ValueId weights = *node_.inputs[1];
    const auto softmax = [&] {
      weights = parts_.put("Softmax", {weights}, Integers(parts_.value(weights).dims), {}, type);
    };
    if (!normalized) softmax();
    weights = parts_.put("TopK", {weights, integers({chosen_})}, {tokens_, chosen_}, {}, type);
    if (normalized) softmax();
    weights = parts_.put("Transpose", {weights}, {chosen_, tokens_}, {}, type);
    return reshaped(weights, {chosen_, tokens_, 1});
  }

  Graph& graph_;
  const Node& node_;
  const ExpertInputs& inputs_;
  Parts parts_;
  DataType type_ = DataType::f32;
  std::int64_t hidden_ = 0, tokens_ = 0, experts_ = 0, chosen_ = 0;
};

}  // namespace

bool append_expert_parts(Graph& graph, const Node& node, std::vector<Node>& nodes, bool executable) {
  if (executable || node.domain != "com.microsoft" || !node.has_input(0) || !node.has_input(1) || !node.has_output(0))
    return false;
  for (const auto& inputs : experts_of)
    if (node.op_type == inputs.op_type) return Experts(graph, node, inputs).append_to(nodes);
  return false;
}

}  // namespace benanza::importer
