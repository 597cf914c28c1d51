// SPDX-License-Identifier: Apache-2.0
#include "node_by_node.hpp"

#include "execution_times.hpp"
#include "program.hpp"
#include <benanza/execution/random_tensor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

namespace {

class NodeByNode {
 public:
  NodeByNode(Graph graph, const CallPlans& plans, const WitnessOptions& options)
      : graph_(std::move(graph)),
        weights_(graph_.file),
        resources_{.plans = {options.backends, options.threads,
                             [this, &plans](const NodeCall& node_call) { return chosen(plans, node_call); }},
                   .weight_seed = options.weight_seed},
        program_(graph_, weights_, resources_) {
    for (const auto id : graph_.inputs) {
      const Value& value = graph_.value(id);
      inputs_.emplace_back(random_input(value.type, value.dims, value.name, options.input_seed));
    }
  }
  NodeByNode(const NodeByNode&) = delete;
  NodeByNode& operator=(const NodeByNode&) = delete;

  /// Runs once and records the time of each node.
  [[nodiscard]] Execution run_noted(bool check) {
    Execution result;
    resources_.check = check;
    resources_.execution = &result;
    result.time = run();
    resources_.execution = nullptr;
    return result;
  }

  [[nodiscard]] Seconds run() {
    const auto begin = std::chrono::steady_clock::now();
    static_cast<void>(program_.run(inputs_, {}, resources_));
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  }

  /// The largest number of threads that a plan uses.
  [[nodiscard]] int threads() const { return threads_; }

 private:
  [[nodiscard]] std::shared_ptr<const ChosenPlan> chosen(const CallPlans& plans, const NodeCall& node_call) {
    auto plan = plans.row_major_plan(node_call.layer, node_call.parameters);
    if (!plan) return nullptr;
    threads_ = std::max(threads_, plan->threads());
    return std::make_shared<const ChosenPlan>(ChosenPlan{plan->name(), std::move(plan->plan)});
  }

  int threads_ = 1;
  Graph graph_;
  Weights weights_;
  Resources resources_;
  Program program_;
  NodeTensors inputs_{};
};

/// The times of executions in which each node was timed, as calls.
class NodeTimes {
 public:
  void add(const Execution& execution) {
    for (auto& times : times_) times.push_back(0);
    for (const auto& run : execution.nodes) {
      if (run.plan.empty()) continue;
      const auto [at, added] = places_.try_emplace({run.node, run.plan}, calls_.size());
      if (added) {
        calls_.push_back({.nodes = {run.node}, .plan = run.plan});
        times_.emplace_back(count_ + 1, 0.0);
      }
      times_[at->second].back() += run.time.value;
    }
    ++count_;
  }

  /// `counted` says which of the executions count.
  [[nodiscard]] std::vector<WitnessCall> calls(const std::vector<bool>& counted) const {
    std::vector<WitnessCall> result = calls_;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t turn = 0; turn < count_; ++turn) {
      double sum = 0;
      for (const auto& times : times_) sum += times[turn];
      if (!counted[turn] || least <= sum) continue;
      least = sum;
      for (std::size_t i = 0; i < result.size(); ++i) result[i].once = {times_[i][turn]};
    }
    for (std::size_t i = 0; i < result.size(); ++i) result[i].in_place = p10_of(times_[i], counted);
    return result;
  }

 private:
  std::size_t count_ = 0;
  std::vector<WitnessCall> calls_{};
  std::vector<std::vector<double>> times_{};                             ///< by call, then by execution
  std::map<std::pair<std::string, std::string>, std::size_t> places_{};  ///< by node and plan
};

/// Timed like a sequence: executions with a clock at each node and whole executions take turns until enough of them
/// count, for at most as long again as `time`.
void time_in_turns(Witness& witness, NodeByNode& model, TeamSentinel& sentinel, Seconds time) {
  constexpr std::size_t whole_in_one_turn = 2, least = 5, most = 1000;
  const auto clock = [] { return std::chrono::steady_clock::now(); };
  const auto begin = clock();
  const auto spent = [&] { return Seconds{std::chrono::duration<double>(clock() - begin).count()}; };
  NodeTimes nodes;
  std::vector<double> whole;
  sentinel.restart();
  const auto goes_on = [&] {
    if (whole.size() >= most) return false;
    const std::size_t counted = sentinel.quiet_turns() * whole_in_one_turn;
    return whole.size() < least || spent() < time || (counted < least && spent() < time * 2.0);
  };
  while (goes_on()) {
    sentinel.begin();
    nodes.add(model.run_noted(false));
    for (std::size_t run = 0; run < whole_in_one_turn; ++run) whole.push_back(model.run().value);
    sentinel.end();
  }
  const auto counted = sentinel.counted();
  witness.calls = nodes.calls(counted);
  set_times(witness, std::move(whole), counted, whole_in_one_turn);
  witness.round_trip = sentinel.least();
}

}  // namespace

Witness execute_node_by_node(Graph graph, const CallPlans& plans, const WitnessOptions& options,
                             TeamSentinel& sentinel) {
  NodeByNode model(std::move(graph), plans, options);
  const Execution first = model.run_noted(true);
  Witness witness{.threads = model.threads(), .node_by_node = true, .checked = first.checked};
  if (!first.disagreements.empty()) {
    const Disagreement& one = first.disagreements.front();
    char difference[32];
    std::snprintf(difference, sizeof difference, "%.2g", one.difference);
    witness.refused = "node '" + one.node + "': the result of " + one.plan + " differs by " + difference +
                      " of the largest magnitude from the reference's";
    return witness;
  }
  time_in_turns(witness, model, sentinel, options.budget);
  return witness;
}

}  // namespace benanza::execution
