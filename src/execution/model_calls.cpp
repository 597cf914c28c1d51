// SPDX-License-Identifier: Apache-2.0
#include "model_calls.hpp"

#include "expression_call.hpp"
#include "more_forms.hpp"
#include "special_nodes.hpp"
#include <benanza/fusion/default_patterns.hpp>
#include <benanza/fusion/fuse.hpp>
#include <benanza/model/cost.hpp>
#include <benanza/model/make_layer.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace benanza::execution {

namespace {

/// An estimate of the time of a call without a row, so that a partition can be chosen.
Seconds guess(const Layer& layer) {
  const Cost one = cost(layer);
  return {one.flops.value / 20e9 + one.bytes().value / 5e9 + 1e-6};
}

class Builder {
 public:
  Builder(const Graph& graph, std::span<const std::size_t> nodes, const TensorStore& constants, CallPlans& plans)
      : graph_(graph),
        single_(make_layer_graph(graph)),
        is_run_(nodes.begin(), nodes.end()),
        constants_(constants),
        plans_(plans) {}

  [[nodiscard]] ModelCalls build() {
    const LayerGraph fused = fuse(single_, default_patterns());
    for (const auto& group : fused.layers) add(group);
    add_forms(graph_, result_, plans_);
    return std::move(result_);
  }

 private:
  /// Adds a group in the cheapest way for which there is a call: whole, in parts, or node by node.
  void add(const Occurrence& group) {
    const auto& members = group.members;
    struct Way {
      Seconds time{std::numeric_limits<double>::infinity()};
      const Piece* piece = nullptr;  // null: one node
    };
    std::vector<Way> best(members.size() + 1);
    best.back().time = {};
    std::map<const Piece*, GroupCall> calls;
    for (std::size_t at = members.size(); at-- > 0;) {
      best[at] = {.time = time_of(members[at]) + best[at + 1].time};
      for (const auto& piece : group.pieces) {
        const auto time = piece.first == at ? plans_.best_time(piece.layer) : std::nullopt;
        if (!time || best[at].time < *time + best[at + piece.count].time) continue;
        const std::span part(members.data() + at, piece.count);
        if (!std::all_of(part.begin(), part.end(), [&](std::size_t node) { return is_run_.contains(node); })) continue;
        auto one = std::holds_alternative<op::Expression>(*piece.layer)
                       ? bind_expression(graph_, single_, group, constants_)
                       : bind_group(graph_, part, piece.layer, constants_);
        if (!one) continue;
        calls[&piece] = std::move(*one);
        best[at] = {*time + best[at + piece.count].time, &piece};
      }
    }
    for (std::size_t at = 0; at < members.size();) {
      const Piece* const piece = best[at].piece;
      if (piece == nullptr) {
        add_single(members[at++], std::holds_alternative<op::View>(*group.layer));
        continue;
      }
      ModelCall call{.group = std::move(calls[piece])};
      call.plans = plans_.of(call.group.layer, call.group.numbers);
      if (!call.group.parts.empty())
        std::erase_if(call.plans, [](const CallPlan& plan) { return !plan.outputs[0].is_plain(); });
      if (call.plans.empty())
        for (std::size_t i = 0; i < piece->count; ++i) add_single(members[at + i], false);
      else result_.calls.push_back(std::move(call));
      at += piece->count;
    }
  }

  [[nodiscard]] Seconds time_of(std::size_t node) const {
    if (!is_run_.contains(node)) return {};
    const Layer layer = make_layer(graph_.nodes[node], graph_);
    if (is_free(layer)) return {};
    return plans_.best_time(layer).value_or(guess(layer));
  }

  void add_single(std::size_t node, bool moved_in_place) {
    const Node& at = graph_.nodes[node];
    if (!is_run_.contains(node) || add_view(node)) return;
    ModelCall call{.moved_in_place = moved_in_place};
    if (find_special(at) == nullptr && at.op_type != "ConstantOfShape")
      if (auto single = bind_single(graph_, node, constants_); single && takes_any_operands(single->layer)) {
        call.plans = plans_.of(single->layer, single->numbers);
        if (!call.plans.empty()) call.group = std::move(*single);
      }
    if (call.plans.empty()) call.group.nodes = {node};
    result_.calls.push_back(std::move(call));
  }

  /// Whether the node's only result has the elements of its first input.
  [[nodiscard]] bool add_view(std::size_t node) {
    const Node& at = graph_.nodes[node];
    if (find_special(at) != nullptr || !is_free(make_layer(at, graph_)) || !at.has_input(0) || !at.has_output(0))
      return false;
    const auto outputs =
        std::count_if(at.outputs.begin(), at.outputs.end(), [](const auto& id) { return id.has_value(); });
    const Value &from = graph_.input(at, 0), &to = graph_.output(at, 0);
    if (outputs != 1 || from.elements() != to.elements() || bits(from.type) != bits(to.type) ||
        constants_[*at.inputs[0]])
      return false;
    result_.views[*at.outputs[0]] = *at.inputs[0];
    return true;
  }

  const Graph& graph_;
  LayerGraph single_;
  std::set<std::size_t> is_run_;
  const TensorStore& constants_;
  CallPlans& plans_;
  ModelCalls result_{};
};

}  // namespace

ModelCalls make_model_calls(const Graph& graph, std::span<const std::size_t> nodes, const TensorStore& constants,
                            CallPlans& plans) {
  return Builder(graph, nodes, constants, plans).build();
}

}  // namespace benanza::execution
