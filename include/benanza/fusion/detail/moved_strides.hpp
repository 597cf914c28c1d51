// SPDX-License-Identifier: Apache-2.0
// move_strides: moves strides towards the inputs of a model. If every reader of a tensor skips elements of it, as 1x1
// convolutions of stride 2 do, the convolution or pooling that computes the tensor can skip them. Element-wise nodes
// between them compute only the remaining elements. An operand that is computed whole is read through a strided Slice.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/base/detail/window_axes.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza {

/// A graph that has the outputs of another graph and computes fewer elements on the way.
struct MovedStrides {
  Graph graph{};                   ///< values that both have keep their ids, and nodes keep their names
  std::set<std::string> slices{};  ///< names of the nodes that were added
};

/// No value if no stride can be moved.
[[nodiscard]] std::optional<MovedStrides> move_strides(const Graph& graph);

namespace detail {

class StrideMover {
 public:
  explicit StrideMover(const Graph& graph) : graph_(&graph), wanted_(graph.values.size()) {}

  [[nodiscard]] std::optional<MovedStrides> move() {
    const auto may_begin = [this](const Node& node) {
      const auto axes = window_axes(node);
      return axes && skips(read_steps(*axes, {}));
    };
    if (std::none_of(graph_->nodes.begin(), graph_->nodes.end(), may_begin)) return std::nullopt;
    collect_names(*graph_);
    for (const ValueId output : graph_->outputs) want(output, {});
    for (std::size_t n = graph_->nodes.size(); n-- > 0;) find_wanted(graph_->nodes[n]);
    const auto takes = [&](const Node& node) { return window_axes(node) && skips(wanted_of(*node.outputs[0])); };
    if (std::none_of(graph_->nodes.begin(), graph_->nodes.end(), takes)) return std::nullopt;
    result_.graph = *graph_;
    result_.graph.nodes.clear();
    for (const Node& node : graph_->nodes) {
      Node changed = node;
      if (const auto axes = window_axes(node)) change_window(changed, *axes);
      else if (is_elementwise(node)) change_elementwise(changed);
      result_.graph.nodes.push_back(std::move(changed));
    }
    return std::move(result_);
  }

 private:
  /// For each spatial axis the n of "every n-th element"; empty: all elements.
  using Steps = Dims;

  [[nodiscard]] static bool skips(const Steps& steps) {
    return std::any_of(steps.begin(), steps.end(), [](std::int64_t step) { return step > 1; });
  }
  [[nodiscard]] static std::int64_t step(const Steps& steps, std::size_t i) { return steps.empty() ? 1 : steps[i]; }

  /// The largest step that divides the steps of all readers.
  [[nodiscard]] Steps wanted_of(ValueId id) const { return wanted_[id].value_or(Steps{}); }
  [[nodiscard]] Steps made_of(ValueId id) const {
    const auto found = made_.find(id);
    return found != made_.end() ? found->second : Steps{};
  }

  void collect_names(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      names_.insert(node.name);
      for (const Body& body : node.bodies) collect_names(body.graph);
    }
  }
  /// A name that no other node has.
  [[nodiscard]] std::string new_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 2; !names_.insert(name).second; ++i) name = wanted + "." + std::to_string(i);
    return name;
  }

  void want(ValueId id, Steps steps) {
    const Value& value = graph_->value(id);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (value.dims[i + 2] == 1) steps[i] = 1;
    if (value.data_dependent || !skips(steps)) steps.clear();
    if (auto& known = wanted_[id]; !known) known = std::move(steps);
    else if (steps.empty()) known->clear();
    else
      for (std::size_t i = 0; i < known->size(); ++i) (*known)[i] = std::gcd((*known)[i], steps[i]);
  }

  void find_wanted(const Node& node) {
    for (const Body& body : node.bodies)
      for (const auto& capture : body.graph.captures) want(capture.second, {});
    const auto axes = window_axes(node);
    const bool is_passed = node.has_output(0) && skips(wanted_of(*node.outputs[0])) && is_elementwise(node);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k]) continue;
      Steps steps;
      if (axes && k == 0) steps = read_steps(*axes, wanted_of(*node.outputs[0]));
      if (is_passed && has_all_elements(node, k)) steps = wanted_of(*node.outputs[0]);
      want(*node.inputs[k], std::move(steps));
    }
  }

  /// The steps with which a window operator reads its input for the wanted elements of its result.
  [[nodiscard]] static Steps read_steps(const WindowAxes& axes, const Steps& wanted) {
    Steps result;
    for (std::size_t i = 0; i < axes.axes.size(); ++i) {
      const Window& axis = axes.axes[i].window;
      const bool is_one = axis.kernel == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
      result.push_back(is_one ? checked_product(axis.stride, step(wanted, i)) : 1);
    }
    return result;
  }

  /// The axes of a convolution or pooling whose stride can change.
  [[nodiscard]] std::optional<WindowAxes> window_axes(const Node& node) const {
    static const std::set<std::string, std::less<>> convolutions{"Conv", "QLinearConv"},
        pools{"MaxPool", "AveragePool", "LpPool"};
    const std::string type = onnx_type(node);
    const bool is_conv = convolutions.contains(type);
    if ((!is_conv && !pools.contains(type)) || !node.has_input(0) || !node.has_output(0)) return std::nullopt;
    if (node.has_output(1) || node.attribute<std::int64_t>("ceil_mode", 0) != 0) return std::nullopt;
    const Dims &x = graph_->input(node, 0).dims, &y = graph_->output(node, 0).dims;
    Dims kernel = node.attribute<Dims>("kernel_shape", {});
    if (is_conv) {
      const Dims& w = graph_->input(node, type == "Conv" ? 1 : 3).dims;
      if (w.size() != x.size()) return std::nullopt;
      kernel.assign(w.begin() + 2, w.end());
    }
    if (x.size() < 3 || y.size() != x.size() || kernel.size() != x.size() - 2) return std::nullopt;
    auto axes = WindowAxes::read(node, std::span(x).subspan(2), kernel);
    if (!axes) return std::nullopt;
    axes->resolve_same_padding(node.attribute<std::string>("auto_pad", "NOTSET"));
    for (std::size_t i = 0; i < kernel.size(); ++i)
      if (axes->axes[i].window.outputs() != y[i + 2]) return std::nullopt;
    return axes;
  }

  /// Whether operand `k` has one element for each element of the result.
  [[nodiscard]] bool has_all_elements(const Node& node, std::size_t k) const {
    return node.has_input(k) && graph_->input(node, k).dims == graph_->output(node, 0).dims;
  }

  /// Whether each element of the only result depends on the elements of operands at the same position, or on elements
  /// that all positions of a channel share.
  [[nodiscard]] bool is_elementwise(const Node& node) const {
    if (!node.bodies.empty() || node.outputs.size() != 1 || !node.has_output(0)) return false;
    const Dims& y = graph_->output(node, 0).dims;
    if (y.size() < 3) return false;
    const Layer layer = make_layer(node, *graph_);
    if (const auto* norm = std::get_if<op::BatchNorm>(&layer))  // before operator set 9 each position may have a scale
      return norm->x[1] == y[1] && has_all_elements(node, 0);
    if (!std::holds_alternative<op::Unary>(layer) && !std::holds_alternative<op::Binary>(layer) &&
        !std::holds_alternative<op::Nary>(layer))
      return false;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (!node.inputs[k]) continue;
      const Value& x = graph_->input(node, k);
      if (x.dims == y && !x.constant) continue;
      for (std::size_t i = 1; i <= std::min(x.dims.size(), y.size() - 2); ++i)
        if (x.dims[x.dims.size() - i] != 1) return false;
    }
    return true;
  }

  void change_window(Node& node, const WindowAxes& axes) {
    const Steps wanted = wanted_of(*node.outputs[0]), made = made_of(*node.inputs[0]);
    if (!skips(wanted) && !skips(made)) return;
    Dims strides, pads;
    for (std::size_t i = 0; i < axes.axes.size(); ++i)
      strides.push_back(axes.axes[i].window.stride * step(wanted, i) / step(made, i));
    for (const auto& axis : axes.axes) pads.push_back(axis.window.pad_begin);
    for (const auto& axis : axes.axes) pads.push_back(axis.window.pad_end);
    node.attributes["strides"] = std::move(strides);
    node.attributes["pads"] = std::move(pads);
    node.attributes.erase("auto_pad");
    shrink(*node.outputs[0], wanted);
  }

  void change_elementwise(Node& node) {
    const auto is_made_with_steps = [&](const auto& id) { return id && skips(made_of(*id)); };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), is_made_with_steps)) return;
    const Steps wanted = wanted_of(*node.outputs[0]);
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (has_all_elements(node, k)) node.inputs[k] = with_steps(*node.inputs[k], wanted);
    shrink(*node.outputs[0], wanted);
  }

  void shrink(ValueId id, const Steps& steps) {
    if (!skips(steps)) return;
    divide(result_.graph.values[id].dims, steps);
    made_[id] = steps;
  }
  static void divide(Dims& dims, const Steps& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) dims[i + 2] = (dims[i + 2] + steps[i] - 1) / steps[i];
  }

  /// The value with these steps: itself, or a Slice of it.
  [[nodiscard]] ValueId with_steps(ValueId id, Steps steps) {
    const Steps made = made_of(id);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] /= step(made, i);
    if (!skips(steps)) return id;
    const auto [found, is_new] = sliced_.try_emplace({id, steps}, 0);
    if (!is_new) return found->second;
    Value slice{.name = new_name(graph_->value(id).name + "/slice"),
                .type = graph_->value(id).type,
                .dims = result_.graph.value(id).dims};
    Dims ends(slice.dims.begin() + 2, slice.dims.end()), axes(steps.size());
    std::iota(axes.begin(), axes.end(), 2);
    divide(slice.dims, steps);
    Node node;
    node.name = slice.name;
    node.op_type = "Slice";
    node.opset = 13;
    node.inputs = {id, add_list(Dims(steps.size(), 0)), add_list(ends), add_list(axes), add_list(steps)};
    found->second = add(std::move(slice));
    node.outputs = {found->second};
    result_.slices.insert(node.name);
    result_.graph.nodes.push_back(std::move(node));
    return found->second;
  }
  [[nodiscard]] ValueId add_list(Dims numbers) {
    const Dims dims{static_cast<std::int64_t>(numbers.size())};
    return add({.type = DataType::i64, .dims = dims, .constant = true, .literal = Literal{.ints = std::move(numbers)}});
  }
  [[nodiscard]] ValueId add(Value value) {
    result_.graph.values.push_back(std::move(value));
    return result_.graph.values.size() - 1;
  }

  const Graph* graph_;
  std::vector<std::optional<Steps>> wanted_;  // by value of the old graph; nothing if it is not read
  std::map<ValueId, Steps> made_{};
  std::set<std::string> names_{};
  std::map<std::pair<ValueId, Steps>, ValueId> sliced_{};
  MovedStrides result_{};
};

}  // namespace detail

inline std::optional<MovedStrides> move_strides(const Graph& graph) { return detail::StrideMover(graph).move(); }

}  // namespace benanza
