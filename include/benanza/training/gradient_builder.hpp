// SPDX-License-Identifier: Apache-2.0
// GradientBuilder: what the rules of operators use: gradients of values, and new nodes.
#pragma once

#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::training {

using Dims = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// The domain of gradients for which ONNX has no operator.
inline constexpr std::string_view gradient_domain = "benanza";
inline constexpr std::string_view microsoft_domain = "com.microsoft";

/// An operator's type and domain.
struct OpName {
  std::string_view type{};
  std::string_view domain{};
};
[[nodiscard]] constexpr OpName gradient_op(std::string_view type) { return {type, gradient_domain}; }

/// Reverse mode over a graph, to which it appends nodes. A rule asks for the gradient of its node's result and gives
/// one to each operand that wants it. If several nodes read a value, its gradients are added as they arrive.
class GradientBuilder {
 public:
  /// `wanted`: the values for which a gradient is wanted, by id.
  GradientBuilder(Graph& graph, std::vector<bool> wanted) : graph_(&graph), wanted_(std::move(wanted)) {}

  [[nodiscard]] const Value& value(ValueId id) const { return graph_->values[id]; }
  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] bool wants(const Node& node, std::size_t i) const {
    return node.has_input(i) && *node.inputs[i] < wanted_.size() && wanted_[*node.inputs[i]];
  }
  /// Nothing if the loss does not depend on the value.
  [[nodiscard]] std::optional<ValueId> gradient(ValueId id) const {
    const auto found = gradients_.find(id);
    return found == gradients_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<ValueId> gradient(const Node& node, std::size_t output = 0) const {
    return node.has_output(output) ? gradient(*node.outputs[output]) : std::nullopt;
  }
  void give(ValueId id, ValueId gradient) {
    const auto [place, first] = gradients_.emplace(id, gradient);
    if (first) return;
    place->second = emit({"Add"}, {place->second, gradient}, value(gradient).type, value(gradient).dims);
  }
  /// Gives input `i` the gradient that `make` returns, if the input wants one.
  template <class Make>
  void give_input(const Node& node, std::size_t i, Make make) {
    if (wants(node, i)) give(*node.inputs[i], make());
  }

  /// Appends a node. Its name consists of the name of the node for which the rule runs, and its own type.
  std::vector<ValueId> emit_all(OpName op, std::vector<std::optional<ValueId>> inputs,
                                const std::vector<std::pair<DataType, Dims>>& outputs, Attributes attributes = {}) {
    Node node{.name = unique(source_ + "/" + std::string(op.type)),
              .domain = std::string(op.domain),
              .op_type = std::string(op.type),
              .opset = op.domain.empty() ? opset : 1,
              .inputs = std::move(inputs),
              .attributes = std::move(attributes),
              .bodies = {}};
    std::vector<ValueId> made;
    for (const auto& [type, dims] : outputs) {
      made.push_back(add_value({.name = node.name + ":" + std::to_string(made.size()), .type = type, .dims = dims}));
      node.outputs.emplace_back(made.back());
    }
    graph_->nodes.push_back(std::move(node));
    return made;
  }
  ValueId emit(OpName op, std::vector<std::optional<ValueId>> inputs, DataType type, Dims dims,
               Attributes attributes = {}) {
    return emit_all(op, std::move(inputs), {{type, std::move(dims)}}, std::move(attributes))[0];
  }
  /// New nodes belong to the node with this name.
  void enter(const std::string& node) { source_ = node; }

  ValueId scalar(DataType type, double number) {
    Value made{.name = unique("constant"), .type = type, .constant = true, .literal = Literal{}};
    made.literal->floats = {number};
    return add_value(std::move(made));
  }
  ValueId integers(const Dims& numbers) {
    Value made{.name = unique("constant"),
               .type = DataType::i64,
               .dims = {static_cast<std::int64_t>(numbers.size())},
               .constant = true,
               .literal = Literal{}};
    made.literal->ints = numbers;
    return add_value(std::move(made));
  }

  // Dimensions are passed by value: a caller may pass those of a value, which moves when another value is added.
  ValueId reshape(ValueId id, Dims dims) {
    if (value(id).dims == dims) return id;
    const ValueId to = integers(dims);
    return emit({"Reshape"}, {id, to}, value(id).type, std::move(dims));
  }
  ValueId expand(ValueId id, Dims dims) {
    if (value(id).dims == dims) return id;
    const ValueId to = integers(dims);
    return emit({"Expand"}, {id, to}, value(id).type, std::move(dims));
  }
  ValueId transpose(ValueId id, const Dims& perm) {
    Dims dims;
    for (const auto axis : perm) dims.push_back(value(id).dims[static_cast<std::size_t>(axis)]);
    return emit({"Transpose"}, {id}, value(id).type, dims, {{"perm", perm}});
  }
  ValueId sum_over(ValueId id, const Dims& axes, Dims result) {
    if (axes.empty()) return reshape(id, std::move(result));
    Dims kept;
    for (std::size_t i = 0; i < value(id).dims.size(); ++i)
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
        kept.push_back(value(id).dims[i]);
    const ValueId sum =
        emit({"ReduceSum"}, {id, integers(axes)}, value(id).type, kept, {{"keepdims", std::int64_t{0}}});
    return reshape(sum, std::move(result));
  }
  /// The gradient of a value that was broadcast: the sum over the axes along which it was repeated.
  ValueId sum_to(ValueId id, Dims dims) {
    const Dims& from = value(id).dims;
    if (from == dims) return id;
    Dims axes;
    const std::size_t lead = from.size() - std::min(dims.size(), from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != 1 && (i < lead || dims[i - lead] == 1)) axes.push_back(static_cast<std::int64_t>(i));
    return sum_over(id, axes, std::move(dims));
  }
  /// A function of one tensor.
  ValueId unary(std::string_view type, ValueId x) { return emit({type}, {x}, value(x).type, value(x).dims); }
  /// An element-wise operator with two operands. The result has the type and shape of `like`.
  ValueId binary(std::string_view type, ValueId a, ValueId b, ValueId like) {
    return emit({type}, {a, b}, value(like).type, value(like).dims);
  }
  /// A tensor of zeros with the type and shape of another one.
  ValueId zeros(ValueId like) { return expand(scalar(value(like).type, 0), value(like).dims); }
  ValueId multiply(ValueId a, ValueId b, Dims dims) { return emit({"Mul"}, {a, b}, value(a).type, std::move(dims)); }

 private:
  static constexpr int opset = 18;

  ValueId add_value(Value value) {
    graph_->values.push_back(std::move(value));
    return graph_->values.size() - 1;
  }
  std::string unique(const std::string& name) {
    const int count = names_[name]++;
    return count == 0 ? name : name + "." + std::to_string(count);
  }

  Graph* graph_;
  std::vector<bool> wanted_;
  std::map<ValueId, ValueId> gradients_{};
  std::map<std::string, int> names_{};
  std::string source_ = "training";
};

}  // namespace benanza::training
