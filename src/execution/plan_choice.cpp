// SPDX-License-Identifier: Apache-2.0
#include "plan_choice.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace benanza::execution {

namespace {

/// What the search takes a change of layout for: bytes read and written at a rate between caches and memory, and the
/// call of it. The sequences that come out are executed, which says what they really take.
constexpr BytesPerSecond rate{8e9};
constexpr Seconds one_change{4e-6};
/// Threads of GNU OpenMP poll for about this long where another library's threads want their processors.
constexpr Seconds one_switch{200e-6};
constexpr int most_passes = 20;

Seconds time_of(const CallPlan& plan) { return plan.alone; }

class Search {
 public:
  Search(const Graph& graph, const ModelCalls& model, const Allowed& allowed)
      : model_(model), choice_(model.calls.size(), 0), readers_(model.calls.size()) {
    for (std::size_t i = 0; i < model.calls.size(); ++i) {
      const BoundGroup& group = model.calls[i].group;
      if (model.calls[i].plans.empty()) {
        const Node& node = graph.nodes[group.nodes.front()];
        for (const auto& id : node.inputs)
          if (id) note_reader(*id, i, 0);
        continue;
      }
      for (std::size_t k = 0; k < group.operands.size(); ++k)
        if (!group.operands[k].constant) note_reader(group.operands[k].value, i, k);
      for (std::size_t k = 0; k < group.outputs.size(); ++k)
        if (group.outputs[k]) makers_[*group.outputs[k]] = {i, k};
    }
    usable_.assign(model.calls.size(), {});
    for (std::size_t i = 0; i < model.calls.size(); ++i) {
      const auto& plans = model.calls[i].plans;
      for (std::size_t p = 0; p < plans.size(); ++p)
        if (allowed(plans[p])) usable_[i].push_back(p);
      for (std::size_t p = 0; p < plans.size() && usable_[i].empty(); ++p) usable_[i].push_back(p);
      if (!usable_[i].empty()) choice_[i] = usable_[i].front();
    }
  }

  [[nodiscard]] PlanChoice run() {
    bool is_better = true;
    for (int pass = 0; pass < most_passes && is_better; ++pass) {
      is_better = false;
      for (std::size_t i = 0; i < choice_.size(); ++i) {
        const std::size_t before = choice_[i];
        Seconds least = cost_at(i);
        std::size_t best = before;
        for (const std::size_t plan : usable_[i]) {
          choice_[i] = plan;
          if (const Seconds cost = cost_at(i); cost < least) {
            least = cost;
            best = plan;
          }
        }
        choice_[i] = best;
        is_better = is_better || best != before;
      }
    }
    return choice_;
  }

 private:
  struct End {
    std::size_t call = 0, operand = 0;
  };
  struct Edge {
    std::optional<End> maker{};  ///< nothing: the value is there row-major
    End reader{};
  };

  void note_reader(ValueId id, std::size_t call, std::size_t operand) {
    const auto maker = makers_.find(model_.root(id));
    const bool is_made = maker != makers_.end();
    if (!is_made && model_.calls[call].plans.empty()) return;
    edges_.push_back({is_made ? std::optional(maker->second) : std::nullopt, {call, operand}});
    readers_[call].push_back(edges_.size() - 1);
    if (is_made) readers_[maker->second.call].push_back(edges_.size() - 1);
  }

  [[nodiscard]] const CallPlan* plan(std::size_t call) const {
    const auto& plans = model_.calls[call].plans;
    return plans.empty() ? nullptr : &plans[choice_[call]];
  }

  [[nodiscard]] Seconds cost_of(const Edge& edge) const {
    std::string form = "plain", wanted = "plain";
    std::size_t bytes = 0;
    if (const CallPlan* const to = plan(edge.reader.call)) {
      const Layout& layout = to->plan->inputs()[edge.reader.operand];
      wanted = layout_key(*to, layout, model_.calls[edge.reader.call].group.shapes.inputs[edge.reader.operand]);
      bytes = layout.bytes;
    }
    if (edge.maker) {
      const CallPlan* const from = plan(edge.maker->call);
      const Layout& layout = from->plan->outputs()[edge.maker->operand];
      form = layout_key(*from, layout, model_.calls[edge.maker->call].group.shapes.outputs[edge.maker->operand]);
      bytes = layout.bytes;
    }
    if (form == wanted) return {};
    const Seconds once = Bytes{2.0 * static_cast<double>(bytes)} / rate + one_change;
    return once * ((form != "plain" ? 1.0 : 0.0) + (wanted != "plain" ? 1.0 : 0.0));
  }

  [[nodiscard]] Seconds switch_between(std::size_t a, std::size_t b) const {
    const CallPlan *const first = plan(a), *const second = plan(b);
    if (first == nullptr || second == nullptr || first->plan->threads() == 1 || second->plan->threads() == 1) return {};
    return first->uses_openmp != second->uses_openmp ? one_switch : Seconds{};
  }

  /// The part of the sum that the plan of one call decides.
  [[nodiscard]] Seconds cost_at(std::size_t call) const {
    const CallPlan* const chosen = plan(call);
    Seconds cost = chosen != nullptr ? time_of(*chosen) : Seconds{};
    for (const auto edge : readers_[call]) cost += cost_of(edges_[edge]);
    if (call > 0) cost += switch_between(call - 1, call);
    if (call + 1 < choice_.size()) cost += switch_between(call, call + 1);
    return cost;
  }

  const ModelCalls& model_;
  PlanChoice choice_;
  std::map<ValueId, End> makers_{};
  std::vector<Edge> edges_{};
  std::vector<std::vector<std::size_t>> readers_;  ///< of a call: the edges at either end of it
  std::vector<std::vector<std::size_t>> usable_{};
};

}  // namespace

PlanChoice fastest_plans(const ModelCalls& model) { return PlanChoice(model.calls.size(), 0); }

PlanChoice choose_plans(const Graph& graph, const ModelCalls& model, const Allowed& allowed) {
  return Search(graph, model, allowed).run();
}

}  // namespace benanza::execution
