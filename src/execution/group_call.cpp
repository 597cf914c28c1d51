// SPDX-License-Identifier: Apache-2.0
#include "group_call.hpp"

#include "composite_calls.hpp"
#include "joined_products.hpp"
#include "node_parameters.hpp"
#include "quantized_nodes.hpp"
#include <benanza/fusion/detail/activation.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace benanza::execution {

namespace {

NodeTensors constants_of(const Node& node, const TensorStore& constants) {
  NodeTensors result;
  for (const auto& id : node.inputs) result.push_back(id ? constants[*id] : std::nullopt);
  return result;
}

/// The epilogue of a layer; null if it has none.
const Epilogue* epilogue_of(const Layer& layer) {
  return std::visit(
      []<class Op>(const Op& op) -> const Epilogue* {
        if constexpr (requires { op.post; }) return &op.post;
        else return nullptr;
      },
      layer);
}

Tensor like(const Tensor& tensor, std::span<const double> values) {
  return Tensor::of(tensor.type(), tensor.dims(), values);
}

/// Traverses the nodes of a group that follow its head.
class EpilogueBinder {
 public:
  EpilogueBinder(const Graph& graph, std::span<const std::size_t> nodes, const Layer& layer,
                 const TensorStore& constants)
      : graph_(graph),
        nodes_(nodes),
        layer_(layer),
        post_(epilogue_of(layer)),
        shapes_(operands(layer)),
        constants_(constants) {}

  [[nodiscard]] std::optional<GroupCall> bind() {
    const auto has_own_scales = [&](std::size_t node) { return is_quantized_node(graph_.nodes[node]); };
    if (post_ == nullptr || std::any_of(nodes_.begin(), nodes_.end(), has_own_scales)) return std::nullopt;
    if (!take_head() && !take_activation_head()) return std::nullopt;
    if (!take_rest()) return std::nullopt;
    group_.nodes.assign(nodes_.begin(), nodes_.end());
    group_.layer = layer_;
    group_.shapes = shapes_;
    group_.outputs = {running_};
    return fits() ? std::optional(std::move(group_)) : std::nullopt;
  }

 private:
  /// Takes the head, the node that the layer is named after. A Pad may precede it.
  [[nodiscard]] bool take_head() {
    const Node& first = graph_.nodes[nodes_[0]];
    const bool pads = first.op_type == "Pad" && std::holds_alternative<op::Conv>(layer_) && nodes_.size() > 1;
    auto head = bind_single(graph_, nodes_[pads ? 1 : 0], constants_);
    if (!head || head->layer.index() != layer_.index() || !head->outputs[0]) return false;
    if (const auto* unary = std::get_if<op::Unary>(&head->layer)) {
      const auto& wanted = std::get<op::Unary>(layer_);
      if (unary->fn != wanted.fn || unary->alpha != wanted.alpha || unary->beta != wanted.beta) return false;
    }
    const Epilogue* begin = epilogue_of(head->layer);
    if (begin == nullptr) return false;
    if (pads) {  // the convolution does it
      if (head->operands[0].constant || head->operands[0].value != *first.outputs[0]) return false;
      head->operands[0].value = *first.inputs[0];
    }
    group_ = std::move(*head);
    step_ = begin->size();
    running_ = *group_.outputs[0];
    at_ = pads ? 2 : 1;
    return true;
  }

  /// A function of one tensor that several nodes compute, such as x * sigmoid(x). `take_rest` decides where it ends.
  [[nodiscard]] bool take_activation_head() {
    if (!std::holds_alternative<op::Unary>(layer_)) return false;
    const Node& first = graph_.nodes[nodes_[0]];
    std::optional<ValueId> x;
    for (const auto& id : first.inputs) {
      if (!id || constants_[*id]) continue;
      if (x && x != id) return false;
      x = id;
    }
    if (!x) return false;
    group_ = {.numbers = parameters_of(layer_), .operands = {{.value = *x}}};
    running_ = *x;
    is_in_head_ = true;
    return true;
  }

  /// Takes all nodes that are left. The nodes of an activation may end at several places: x * (1 + erf(x / sqrt(2))) is
  /// a function of x, and so is half of it. The right place is the one after which the other steps take the other
  /// nodes. The last place is tried first, since a factor at the end belongs to the activation.
  [[nodiscard]] bool take_rest() {
    if (at_ == nodes_.size()) return step_ == post_->size() && !is_in_head_;
    if (!is_activation_next()) return take() && take_rest();
    PostOp wanted;
    if (is_in_head_) {
      const auto& head = std::get<op::Unary>(layer_);
      wanted = PostOp(head.fn, head.alpha, head.beta);
      is_in_head_ = false;
    } else {
      wanted = (*post_)[step_++];
    }
    const auto [before_group, before_step, before_at, before_running] = std::tuple(group_, step_, at_, running_);
    const auto ends = ends_of_activation();
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      if (may_be(wanted, *end) && advance_to(*end) && take_rest()) return true;
      std::tie(group_, step_, at_, running_) = std::tie(before_group, before_step, before_at, before_running);
    }
    return false;
  }

  /// Whether the nodes up to `end` may be this function of the running result: one node that computes it, or
  /// element-wise nodes if exporters write the function in parts (fusion/detail/activation.hpp).
  [[nodiscard]] bool may_be(const PostOp& wanted, std::size_t end) const {
    std::set<ValueId> inside{running_};
    for (std::size_t i = at_; i < end; ++i) {
      const Node& node = graph_.nodes[nodes_[i]];
      const Layer layer = make_layer(node, graph_);
      const auto* unary = std::get_if<op::Unary>(&layer);
      const bool is_step = unary != nullptr || std::holds_alternative<op::Binary>(layer);
      if (!is_step || !epilogue_of(layer)->empty() || is_8_bit(type(layer))) return false;
      for (const auto& id : node.inputs)
        if (id && !constants_[*id] && !inside.contains(*id)) return false;
      if (end - at_ == 1)
        return unary != nullptr && unary->fn == wanted.fn && unary->alpha == wanted.alpha && unary->beta == wanted.beta;
      if (node.has_output(0)) inside.insert(*node.outputs[0]);
    }
    return std::any_of(detail::named_functions.begin(), detail::named_functions.end(),
                       [&](const auto& named) { return named.fn == wanted.fn; });
  }

  [[nodiscard]] bool is_activation_next() const {
    if (is_in_head_) return true;
    const Layer layer = make_layer(graph_.nodes[nodes_[at_]], graph_);
    return !std::holds_alternative<op::View>(layer) && !std::holds_alternative<op::BatchNorm>(layer) &&
           step_ < post_->size() && !is_binary((*post_)[step_].fn);
  }

  /// Takes a node that is not part of an activation.
  [[nodiscard]] bool take() {
    const Node& node = graph_.nodes[nodes_[at_]];
    const Layer layer = make_layer(node, graph_);
    if (std::holds_alternative<op::View>(layer)) return node.inputs[0] == running_ && advance_to(at_ + 1);
    if (std::holds_alternative<op::BatchNorm>(layer)) return fold(node) && advance_to(at_ + 1);
    if (step_ >= post_->size()) return false;
    const PostOp& op = (*post_)[step_++];
    const auto* binary = std::get_if<op::Binary>(&layer);
    const auto other = other_operand(node);
    if (binary == nullptr || binary->fn != op.fn || !other) return false;
    GroupOperand operand{.value = *other, .constant = constants_[*other]};
    if ((op.channel && !operand.constant) || !fits(operand, group_.operands.size())) return false;
    group_.operands.push_back(std::move(operand));
    return advance_to(at_ + 1);
  }

  [[nodiscard]] bool advance_to(std::size_t next) {
    if (next <= at_ || next > nodes_.size()) return false;
    const Node& last = graph_.nodes[nodes_[next - 1]];
    if (!last.has_output(0)) return false;
    running_ = *last.outputs[0];
    at_ = next;
    return true;
  }

  [[nodiscard]] bool reads(std::size_t member, ValueId id) const {
    const auto& inputs = graph_.nodes[nodes_[member]].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input == id; });
  }

  /// The places after which no node reads the input of the activation or a value inside it.
  [[nodiscard]] std::vector<std::size_t> ends_of_activation() const {
    std::vector<std::size_t> ends;
    std::vector<ValueId> inner{running_};
    for (std::size_t end = at_ + 1; end <= nodes_.size(); ++end) {
      const bool is_cut = std::none_of(inner.begin(), inner.end(), [&](ValueId id) {
        for (std::size_t later = end; later < nodes_.size(); ++later)
          if (reads(later, id)) return true;
        return false;
      });
      if (is_cut) ends.push_back(end);
      for (const auto& output : graph_.nodes[nodes_[end - 1]].outputs)
        if (output) inner.push_back(*output);
    }
    return ends;
  }

  /// The operand of a function of two operands that is not the running result.
  [[nodiscard]] std::optional<ValueId> other_operand(const Node& node) const {
    if (node.inputs.size() != 2 || !node.inputs[0] || !node.inputs[1] || node.inputs[0] == node.inputs[1])
      return std::nullopt;
    if (node.inputs[0] == running_) return node.inputs[1];
    return node.inputs[1] == running_ ? node.inputs[0] : std::nullopt;
  }

  /// Folds y = (x - mean) * scale / sqrt(variance + epsilon) + shift into a factor of the weights and a bias.
  [[nodiscard]] bool fold(const Node& node) {
    const NodeTensors given = constants_of(node, constants_);
    if (node.inputs[0] != running_ || given.size() != 5) return false;
    for (std::size_t i = 1; i < given.size(); ++i)
      if (!given[i]) return false;
    auto& weights = group_.operands[1].constant;
    const auto axis = channel_axis();
    if (!weights || !axis || weights->dims()[*axis] != given[1]->elements()) return false;
    const double epsilon = epsilon_of(node);
    std::vector<double> factor, shift;
    const bool has_bias = group_.operands.size() > 2;
    for (std::int64_t c = 0; c < given[1]->elements(); ++c) {
      factor.push_back((*given[1])[c] / std::sqrt((*given[4])[c] + epsilon));
      const double before = has_bias ? (*group_.operands[2].constant)[c] : 0;
      shift.push_back((before - (*given[3])[c]) * factor.back() + (*given[2])[c]);
    }
    std::int64_t inner = 1;
    for (std::size_t i = *axis + 1; i < weights->dims().size(); ++i) inner *= weights->dims()[i];
    std::vector<double> scaled = weights->values();
    for (std::size_t i = 0; i < scaled.size(); ++i)
      scaled[i] *= factor[static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner) % factor.size()];
    weights = like(*weights, scaled);
    const Tensor bias_tensor = Tensor::of(weights->type(), {given[1]->elements()}, shift);
    if (has_bias) {
      group_.operands[2].constant = bias_tensor;
      return true;
    }
    ++step_;
    group_.operands.push_back({.constant = bias_tensor});
    return true;
  }

  /// The axis of the weights that holds the channels of the result.
  [[nodiscard]] std::optional<std::size_t> channel_axis() const {
    if (group_.operands.size() > 3 || (group_.operands.size() == 3 && !group_.operands[2].constant))
      return std::nullopt;
    if (std::holds_alternative<op::Conv>(layer_)) return 0;
    const auto* transposed = std::get_if<op::ConvTranspose>(&layer_);
    return transposed != nullptr && transposed->group == 1 ? std::optional<std::size_t>(1) : std::nullopt;
  }

  /// Whether `operand` may be operand `i` of the layer.
  [[nodiscard]] bool fits(const GroupOperand& operand, std::size_t i) const {
    if (i >= shapes_.inputs.size()) return false;
    const auto& [value, constant] = operand;
    const DataType given = constant ? constant->type() : graph_.value(value).type;
    const std::int64_t elements = constant ? constant->elements() : graph_.value(value).elements();
    return given == shapes_.inputs[i].type && elements == shapes_.inputs[i].elements();
  }

  [[nodiscard]] bool fits() const {
    if (group_.shapes.inputs.size() != group_.operands.size() || group_.shapes.outputs.size() != 1) return false;
    for (std::size_t i = 0; i < group_.operands.size(); ++i)
      if (!fits(group_.operands[i], i)) return false;
    const Value& result = graph_.value(running_);
    return result.type == group_.shapes.outputs[0].type && result.elements() == group_.shapes.outputs[0].elements();
  }

  const Graph& graph_;
  std::span<const std::size_t> nodes_;
  const Layer& layer_;
  const Epilogue* post_;
  Operands shapes_;
  const TensorStore& constants_;
  GroupCall group_{};
  std::size_t at_ = 0;    ///< the next of `nodes_`
  std::size_t step_ = 0;  ///< the next step of the epilogue
  ValueId running_ = 0;
  bool is_in_head_ = false;  ///< the layer's own function is next
};

}  // namespace

std::optional<GroupCall> bind_single(const Graph& graph, std::size_t node, const TensorStore& constants) {
  const Node& at = graph.nodes[node];
  const NodeTensors given = constants_of(at, constants);
  NodeCall call = bind_node(graph, at, given);
  if (is_free(call.layer)) return std::nullopt;
  GroupCall group{.nodes = {node}, .layer = call.layer, .shapes = call.shapes, .numbers = call.parameters};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const OperandSource& source = call.operands[i];
    const bool is_constant = std::all_of(source.inputs.begin(), source.inputs.end(),
                                         [&](std::size_t input) { return given[input].has_value(); });
    if (is_constant) group.operands.push_back({.constant = operand_tensor(call, at, i, given)});
    else if (!source.make && graph.input(at, source.inputs.front()).type == call.shapes.inputs[i].type)
      group.operands.push_back({.value = *at.inputs[source.inputs.front()]});
    else return std::nullopt;
  }
  group.outputs.resize(group.shapes.outputs.size());
  for (std::size_t i = 0; i < at.outputs.size(); ++i) {
    if (!at.has_output(i)) continue;
    if (!call.outputs[i].of_layer) return std::nullopt;
    group.outputs[*call.outputs[i].of_layer] = *at.outputs[i];
  }
  return group;
}

std::optional<GroupCall> bind_group(const Graph& graph, std::span<const std::size_t> nodes, const Layer& layer,
                                    const TensorStore& constants) {
  if (const auto* norm = std::get_if<op::LayerNorm>(&layer)) return bind_norm(graph, nodes, *norm, constants);
  if (const auto* attention = std::get_if<op::Attention>(&layer))
    return bind_attention(graph, nodes, *attention, constants);
  if (auto group = EpilogueBinder(graph, nodes, layer, constants).bind()) return group;
  const auto* product = std::get_if<op::MatMul>(&layer);
  return product != nullptr ? bind_products(graph, nodes, *product, constants) : std::nullopt;
}

}  // namespace benanza::execution
