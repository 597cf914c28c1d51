// SPDX-License-Identifier: Apache-2.0
// fold_activations: replaces functions that exporters write in several nodes by one node, whose gradient reads only x:
// 0.5 x (1 + erf(x / sqrt(2))) and 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) are Gelu, x sigmoid(x) is Swish,
// x tanh(softplus(x)) is Mish.
#pragma once

#include <benanza/base/detail/node.hpp>
#include <benanza/model/graph.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::training {

/// Factors may be on either side of a product.
class ActivationFolder {
 public:
  explicit ActivationFolder(Graph& graph) : graph_(&graph), maker_(graph.values.size()), readers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const auto& output : graph.nodes[i].outputs)
        if (output) maker_[*output] = i;
      for (const auto& input : graph.nodes[i].inputs)
        if (input) readers_[*input].push_back(i);
    }
    for (const ValueId id : graph.outputs) readers_[id].push_back(graph.nodes.size());
  }

  void fold() {
    std::set<std::size_t> gone;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (graph_->nodes[i].domain.empty()) {
        const std::string type = graph_->nodes[i].op_type;
        if (type == "Erf") fold_exact_gelu(i, gone);
        if (type == "Tanh") fold_approximate_gelu(i, gone);
        if (type == "Sigmoid") fold_product(i, *graph_->nodes[i].inputs[0], "Swish", {i}, gone);
        if (type == "Softplus") fold_mish(i, gone);
      }
    std::vector<Node> kept;
    for (std::size_t i = 0; i < graph_->nodes.size(); ++i)
      if (!gone.contains(i)) kept.push_back(std::move(graph_->nodes[i]));
    graph_->nodes = std::move(kept);
  }

 private:
  /// The only node that reads a value.
  [[nodiscard]] std::optional<std::size_t> reader(ValueId id) const {
    if (readers_[id].size() != 1 || readers_[id][0] == graph_->nodes.size()) return std::nullopt;
    return readers_[id][0];
  }
  /// The other operand if a node of type `type` reads `id`. Nothing for another type.
  [[nodiscard]] std::optional<ValueId> partner(std::size_t node, std::string_view type, ValueId id) const {
    const Node& at = graph_->nodes[node];
    if (at.op_type != type || at.inputs.size() != 2 || !at.inputs[0] || !at.inputs[1]) return std::nullopt;
    return *at.inputs[0] == id ? *at.inputs[1] : *at.inputs[0];
  }
  [[nodiscard]] bool is_number(ValueId id, double expected) const {
    const auto number = detail::scalar(graph_->value(id));
    return number && std::fabs(*number - expected) < 1e-3;
  }

  /// Folds x times the result of node `last`.
  void fold_product(std::size_t last, ValueId x, const char* name, std::initializer_list<std::size_t> others,
                    std::set<std::size_t>& gone) {
    const ValueId made = *graph_->nodes[last].outputs[0];
    const auto product = reader(made);
    const auto factor = product ? partner(*product, "Mul", made) : std::nullopt;
    if (factor && *factor == x) replace(*product, x, name, others, gone);
  }
  void fold_mish(std::size_t softplus, std::set<std::size_t>& gone) {
    const auto tanh = reader(*graph_->nodes[softplus].outputs[0]);
    if (tanh && graph_->nodes[*tanh].op_type == "Tanh")
      fold_product(*tanh, *graph_->nodes[softplus].inputs[0], "Mish", {softplus, *tanh}, gone);
  }

  void fold_exact_gelu(std::size_t erf, std::set<std::size_t>& gone) {
    constexpr double root = 1.41421356;
    const ValueId scaled = *graph_->nodes[erf].inputs[0];
    const auto scale = maker_[scaled];
    if (!scale || !reader(scaled)) return;
    const Node& first = graph_->nodes[*scale];
    std::optional<ValueId> x;
    if (first.op_type == "Div" && is_number(*first.inputs[1], root)) x = first.inputs[0];
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
      if (first.op_type == "Mul" && is_number(*first.inputs[k], 1 / root)) x = first.inputs[1 - k];
    if (x) fold_gelu(erf, *x, {*scale, erf}, gone, "none");
  }

  /// The node that computes a value, if it has type `type` and only one node reads the value.
  [[nodiscard]] std::optional<std::size_t> maker(ValueId id, std::string_view type) const {
    const auto made = maker_[id];
    return made && reader(id) && graph_->nodes[*made].op_type == type ? made : std::nullopt;
  }
  /// The other operand of a product or sum with `number`.
  [[nodiscard]] std::optional<ValueId> beside(std::size_t node, double number) const {
    const auto& inputs = graph_->nodes[node].inputs;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
      if (inputs.size() == 2 && is_number(*inputs[k], number)) return inputs[1 - k];
    return std::nullopt;
  }
  void fold_approximate_gelu(std::size_t tanh, std::set<std::size_t>& gone) {
    const auto scale = maker(*graph_->nodes[tanh].inputs[0], "Mul");
    const auto scaled = scale ? beside(*scale, 0.79788456) : std::nullopt;
    const auto sum = scaled ? maker(*scaled, "Add") : std::nullopt;
    if (!sum) return;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const ValueId x = *graph_->nodes[*sum].inputs[k];
      const auto part = maker(*graph_->nodes[*sum].inputs[1 - k], "Mul");
      const auto power = part ? beside(*part, 0.044715) : std::nullopt;
      if (!power) continue;
      std::vector<std::size_t> inside{*scale, *sum, *part, tanh};
      if (!add_cube(*power, x, inside)) continue;
      return fold_gelu(tanh, x, inside, gone, "tanh");
    }
  }
  /// Adds the nodes that compute the third power of x.
  [[nodiscard]] bool add_cube(ValueId cube, ValueId x, std::vector<std::size_t>& inside) const {
    if (const auto power = maker(cube, "Pow")) {
      inside.push_back(*power);
      return *graph_->nodes[*power].inputs[0] == x && is_number(*graph_->nodes[*power].inputs[1], 3);
    }
    const auto product = maker(cube, "Mul");
    const auto square = product ? partner(*product, "Mul", x) : std::nullopt;
    const auto inner = square ? maker(*square, "Mul") : std::nullopt;
    if (!inner || partner(*inner, "Mul", x) != x) return false;
    inside.insert(inside.end(), {*product, *inner});
    return true;
  }

  /// `function` computes erf or tanh; `inside` are this node and those that compute its operand.
  void fold_gelu(std::size_t function, ValueId x, std::vector<std::size_t> inside, std::set<std::size_t>& gone,
                 const char* approximate) {
    const ValueId result = *graph_->nodes[function].outputs[0];
    const auto finish = [&](std::size_t last, std::initializer_list<std::size_t> others) {
      replace(last, x, "Gelu", others, gone);
      graph_->nodes[last].attributes["approximate"] = std::string(approximate);
      gone.insert(inside.begin(), inside.end());
    };
    const auto sum = reader(result);
    if (!sum) return;
    const auto one = partner(*sum, "Add", result);
    if (!one || !is_number(*one, 1)) return;
    const ValueId added = *graph_->nodes[*sum].outputs[0];
    const auto next = reader(added);
    const auto factor = next ? partner(*next, "Mul", added) : std::nullopt;
    if (!factor) return;
    const ValueId product = *graph_->nodes[*next].outputs[0];
    if (*factor == x) {  // x (1 + erf), then times a half
      const auto last = reader(product);
      const auto half = last ? partner(*last, "Mul", product) : std::nullopt;
      if (half && is_number(*half, 0.5)) finish(*last, {*sum, *next});
      return;
    }
    const auto half_node = maker_[*factor];  // (1 + erf) times half of x
    if (!half_node || !reader(*factor)) return;
    const auto half = partner(*half_node, "Mul", x);
    if (half && is_number(*half, 0.5)) finish(*next, {*sum, *half_node});
  }

  void replace(std::size_t last, ValueId x, const char* name, std::initializer_list<std::size_t> others,
               std::set<std::size_t>& gone) {
    Node& node = graph_->nodes[last];
    node.op_type = name;
    node.domain = "";
    node.opset = 24;
    node.inputs = {x};
    node.attributes.clear();
    gone.insert(others);
  }

  Graph* graph_;
  std::vector<std::optional<std::size_t>> maker_;
  std::vector<std::vector<std::size_t>> readers_;
};

inline void fold_activations(Graph& graph) { ActivationFolder(graph).fold(); }

}  // namespace benanza::training
