// SPDX-License-Identifier: Apache-2.0
#include "make_witness.hpp"

#include "deviation.hpp"
#include "execution_times.hpp"
#include "fastest_sequence.hpp"
#include "node_by_node.hpp"
#include "plan/cpu_set.hpp"
#include "plan/round_trip.hpp"
#include "recorded_sequence.hpp"
#include <benanza/base/detail/quantile.hpp>
#include <benanza/execution/executor.hpp>
#include <benanza/execution/random_tensor.hpp>
#include <benanza/fusion/detail/moved_strides.hpp>
#include <benanza/plan/openmp_team.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <sched.h>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace benanza {

namespace {

using namespace execution;

constexpr std::size_t least_executions = 5, most_executions = 1000;
/// The share of the time that is spent on finding the fastest sequence.
constexpr double search_share = 0.6;
/// Relative to the largest magnitude. The calls of a sequence sum products in another order than single nodes do.
constexpr double allowed_f32 = 1e-3, allowed_f16 = 2e-2, allowed_bf16 = 1e-1;  // tf32 has the mantissa bits of f16
/// The fraction of an output's integers that may differ, such as the index of the largest of nearly equal numbers, or a
/// comparison of them.
constexpr double most_unequal = 1e-3;
/// The largest share of the time that is spent waiting for the threads.
constexpr double most_waiting = 1.0 / 3;

Seconds now() { return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()}; }

/// Why a sequence of calls cannot represent the model; empty if it can.
std::string obstacle(const Graph& graph) {
  for (const auto& node : graph.nodes)
    if (!node.bodies.empty()) return "control flow: node '" + node.name + "' (" + node.op_type + ")";
  for (const auto& value : graph.values)
    if (value.data_dependent) return "data decides the size of '" + value.name + "'";
  return {};
}

/// Plans of all libraries on one team of threads, if the process has OpenMP, so that consecutive calls do not switch
/// threads.
std::vector<std::shared_ptr<const Backend>> on_one_team(std::vector<std::shared_ptr<const Backend>> backends) {
  const auto uses_openmp = [](const auto& backend) { return backend->uses_openmp(); };
  if (std::none_of(backends.begin(), backends.end(), uses_openmp)) return backends;
  for (auto& backend : backends)
    if (!uses_openmp(backend))
      if (auto other = backend->on_openmp()) backend = std::move(other);
  return backends;
}

/// During its lifetime, the threads of OpenMP's team are pinned as for measurements, each to its own processor.
class PinnedTeam {
 public:
  explicit PinnedTeam(int threads) {
    static_cast<void>(sched_getaffinity(0, sizeof before_, &before_));
    std::vector<int> where = cpus();
    if (where.size() > static_cast<std::size_t>(threads)) where.resize(static_cast<std::size_t>(threads));
    team_.bind(where);
  }
  ~PinnedTeam() {
    team_.end();
    static_cast<void>(sched_setaffinity(0, sizeof before_, &before_));
  }
  PinnedTeam(const PinnedTeam&) = delete;
  PinnedTeam& operator=(const PinnedTeam&) = delete;

 private:
  OpenmpTeam team_{};
  cpu_set_t before_{};
};

std::map<std::string, Tensor> random_inputs(const Executor& executor, std::uint64_t seed) {
  std::map<std::string, Tensor> result;
  for (const auto& info : executor.inputs()) result[info.name] = random_input(info.type, info.dims, info.name, seed);
  return result;
}

/// Returns when the threads are near each other, or after `most`.
void wait_until_near(TeamSentinel& sentinel, Seconds most) {
  constexpr std::chrono::milliseconds between{50};
  for (const Seconds end = now() + most; !sentinel.near() && now() < end;) std::this_thread::sleep_for(between);
}

/// Executions with a clock between calls and whole executions take turns, so that both see the same phases of the
/// machine. Continues until enough of them count, for at most as long again.
void time_runs(Witness& witness, Sequence& sequence, TeamSentinel& sentinel, Seconds time) {
  constexpr std::size_t whole_in_one_turn = 2;
  std::vector<std::vector<double>> calls(witness.calls.size());
  std::vector<std::vector<Seconds>> turns;
  std::vector<double> whole;
  const Seconds end = now() + time, last = end + time;
  sentinel.restart();
  const auto goes_on = [&] {
    if (whole.size() >= most_executions) return false;
    const std::size_t counted = sentinel.quiet_turns() * whole_in_one_turn;
    return whole.size() < least_executions || now() < end || (counted < least_executions && now() < last);
  };
  while (goes_on()) {
    sentinel.begin();
    turns.push_back(sequence.run_timed());
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].push_back(turns.back()[i].value);
    for (std::size_t run = 0; run < whole_in_one_turn; ++run) {
      const Seconds before = now();
      sequence.run();
      whole.push_back((now() - before).value);
    }
    sentinel.end();
  }
  const auto counted = sentinel.counted();
  Seconds least{std::numeric_limits<double>::infinity()};
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    const Seconds sum = std::accumulate(turns[turn].begin(), turns[turn].end(), Seconds{});
    if (!counted[turn] || least <= sum) continue;
    least = sum;
    for (std::size_t i = 0; i < calls.size(); ++i) witness.calls[i].once = turns[turn][i];
  }
  for (std::size_t i = 0; i < calls.size(); ++i) witness.calls[i].in_place = p10_of(std::move(calls[i]), counted);
  set_times(witness, std::move(whole), counted, whole_in_one_turn);
}

/// The same for a device, where calls are timed one by one between events.
void time_recorded_runs(Witness& witness, RecordedSequence& sequence, Seconds time) {
  constexpr std::size_t whole_in_one_turn = 5;
  std::vector<std::vector<double>> calls(witness.calls.size());
  std::vector<double> whole;
  Seconds least{std::numeric_limits<double>::infinity()};
  const Seconds end = now() + time;
  while (whole.size() < most_executions && (whole.size() < least_executions || now() < end)) {
    const auto times = sequence.sequence().run_timed();
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].push_back(times[i].value);
    if (const Seconds sum = std::accumulate(times.begin(), times.end(), Seconds{}); sum < least) {
      least = sum;
      for (std::size_t i = 0; i < calls.size(); ++i) witness.calls[i].once = times[i];
    }
    for (std::size_t run = 0; run < whole_in_one_turn; ++run) whole.push_back(sequence.run().value);
  }
  for (std::size_t i = 0; i < calls.size(); ++i) witness.calls[i].in_place = {detail::quantile(calls[i], 0.1)};
  const std::vector<bool> counted(whole.size() / whole_in_one_turn, true);
  set_times(witness, std::move(whole), counted, whole_in_one_turn);
}

/// Times what is between the calls: changes of layout and of threads.
void time_joints(Witness& witness, Sequence& sequence) {
  sequence.time_layout_changes();
  for (std::size_t i = 0; i < witness.calls.size(); ++i) witness.calls[i].alone = sequence.calls()[i].alone;
  witness.switches = sequence.time_switches();
}

/// Outputs of the graph, in its order; empty if one was not computed.
using Expected = std::vector<std::optional<Tensor>>;

/// The device on which backends run; null for the processor.
std::shared_ptr<Device> device_of(std::span<const std::shared_ptr<const Backend>> backends) {
  for (const auto& backend : backends)
    if (backend->on_device()) return backend->device();
  return nullptr;
}

/// The graph from which the fused form is made.
Graph with_moved_strides(const Graph& graph) {
  auto moved = move_strides(graph);
  return moved ? std::move(moved->graph) : graph;
}

class Maker {
 public:
  Maker(const Graph& graph, const ResultDatabase& rows, const WitnessOptions& options)
      : original_(graph),
        graph_(with_moved_strides(graph)),
        options_(options),
        weights_(graph_.file),
        device_(device_of(options.backends)),
        backends_(on_one_team(options.backends)),
        resources_{.plans = {device_ ? options.checked_by : backends_, checking_threads()},
                   .weight_seed = options.weight_seed},
        program_(graph_, weights_, resources_),
        plans_(rows.newest_rows(), backends_, options.threads),
        changes_(plans_, device_.get()),
        packed_(device_.get()),
        usual_round_trip_(rows.ceilings(options.threads).round_trip) {}

  [[nodiscard]] Witness make() {
    std::optional<PinnedTeam> team;
    if (!device_) team.emplace(options_.threads);
    std::set<const Node*> runs;
    for (const Node* node : program_.nodes()) runs.insert(node);
    std::vector<std::size_t> nodes;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (runs.contains(&graph_.nodes[i])) nodes.push_back(i);
    model_ = make_model_calls(graph_, nodes, program_.constants(), plans_);
    for (const auto& call : model_.calls) {
      if (!call.plans.empty()) continue;
      const Node& node = graph_.nodes[call.group.nodes.front()];
      if (device_) throw NotExecutable(node, "no plan of the device runs it");
      prepare(node);
    }
    const auto expected = compute_outputs();
    const Sequence::Model model{.graph = graph_,
                                .program = program_,
                                .resources = resources_,
                                .calls = model_,
                                .changes = changes_,
                                .inputs = inputs_,
                                .packed = packed_,
                                .device = device_.get()};
    return device_ ? on_device(model, expected) : on_processor(model, expected);
  }

 private:
  [[nodiscard]] Witness on_processor(const Sequence::Model& model, const Expected& expected) {
    const OpenmpTeam openmp;
    std::optional<ThreadPool> pool;
    if (openmp.exists()) pool.emplace(openmp, options_.threads);
    const auto read = [&] { return pool ? round_trip(*pool, options_.threads) : Seconds{}; };
    TeamSentinel sentinel(read, usual_round_trip_);
    const Seconds begin = now();
    wait_until_near(sentinel, options_.budget * most_waiting);
    const Seconds left = options_.budget - std::min(now() - begin, options_.budget * most_waiting);
    const auto found = find_fastest_sequence(model, sentinel, left * search_share);
    Witness witness = witness_of(*found.sequence, expected, found.choice, found.tried);
    if (!witness.refused.empty()) return witness;
    time_runs(witness, *found.sequence, sentinel, left * (1 - search_share));
    witness.round_trip = sentinel.least();
    witness.usual_round_trip = usual_round_trip_;
    time_joints(witness, *found.sequence);
    return witness;
  }

  [[nodiscard]] Witness on_device(const Sequence::Model& model, const Expected& expected) {
    const auto found = find_fastest_recorded(model, options_.budget * search_share);
    static_cast<void>(found.sequence->run());
    Sequence& sequence = found.sequence->sequence();
    Witness witness = witness_of(sequence, expected, found.choice, found.tried);
    witness.one_graph = found.sequence->one_graph();
    if (!witness.refused.empty()) return witness;
    time_recorded_runs(witness, *found.sequence, options_.budget * (1 - search_share));
    time_joints(witness, sequence);
    return witness;
  }

  /// A witness without times: what is executed, and whether its outputs are right.
  [[nodiscard]] Witness witness_of(Sequence& sequence, const Expected& expected, const PlanChoice& choice,
                                   std::size_t tried) {
    Witness witness{.threads = threads_of(choice), .calls = sequence.calls(), .tried = tried};
    witness.peak = sequence.peak();
    witness.all_tensors = sequence.all_tensors();
    compare(witness, expected, sequence.outputs());
    if (options_.check) add_check(witness, sequence, choice);
    return witness;
  }

  static void add_check(Witness& witness, Sequence& sequence, const PlanChoice& choice) {
    const WitnessCheck& check = witness.check.emplace(sequence.check(choice));
    if (check.wrong == 0 || !witness.refused.empty()) return;
    char text[120];
    std::snprintf(text, sizeof text, "differs by %.2g of the largest magnitude from the reference, allowed %.2g",
                  check.difference, check.tolerance);
    witness.refused = "the call of '" + check.nodes.front() + "' (" + check.plan + ") " + text;
  }

  /// The processor computes the results that those of a device are compared with.
  [[nodiscard]] int checking_threads() const { return device_ ? static_cast<int>(cpus().size()) : options_.threads; }

  /// Computes node by node, without groups, layouts and moved strides. Keeps the inputs for the sequence.
  [[nodiscard]] Expected compute_outputs() {
    Executor executor = Executor::load(original_, {.backends = device_ ? options_.checked_by : options_.backends,
                                                   .threads = checking_threads(),
                                                   .weight_seed = options_.weight_seed});
    const auto inputs = random_inputs(executor, options_.input_seed);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
      inputs_[graph_.inputs[i]] = inputs.at(executor.inputs()[i].name);
    Execution execution = executor.run(inputs);
    Expected outputs;
    for (const auto& info : executor.outputs()) {
      const auto found = execution.outputs.find(info.name);
      outputs.push_back(found != execution.outputs.end() ? std::optional(found->second) : std::nullopt);
    }
    return outputs;
  }

  void prepare(const Node& node) {
    NodeTensors constants;
    for (const auto& id : node.inputs) constants.push_back(id ? program_.constants()[*id] : std::nullopt);
    if (NodeStep* const step = program_.step_of(node)) step->prepare(constants, resources_);
  }

  /// The largest number of threads that a plan uses.
  [[nodiscard]] int threads_of(const PlanChoice& choice) const {
    int result = 1;
    for (std::size_t i = 0; i < choice.size(); ++i)
      if (!model_.calls[i].plans.empty()) result = std::max(result, model_.calls[i].plans[choice[i]].threads());
    return result;
  }

  /// The tolerance of the coarsest type in which a call computes or that an output has.
  [[nodiscard]] double allowed(const std::vector<Tensor>& got) const {
    double most = allowed_f32;
    const auto add = [&](DataType type) {
      if (type == DataType::f16 || type == DataType::tf32) most = std::max(most, allowed_f16);
      if (type == DataType::bf16) most = std::max(most, allowed_bf16);
    };
    for (const auto& call : model_.calls)
      if (!call.plans.empty()) add(type(call.group.layer));
    for (const auto& tensor : got) add(tensor.type());
    return most;
  }

  void compare(Witness& witness, const Expected& expected, const std::vector<Tensor>& got) {
    witness.allowed = allowed(got);
    double largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!expected[i]) continue;
      const Deviation one = deviation(*expected[i], got[i], is_rounded(original_, original_.outputs[i]));
      largest = std::max(largest, one.largest);
      witness.difference = std::max(witness.difference, one.relative);
      witness.unequal = std::max(witness.unequal, one.unequal);
    }
    if (!(largest > 0)) {
      witness.refused = "all its outputs are zero or not finite, so that nothing can be compared";
      return;
    }
    char text[120];
    if (witness.difference > witness.allowed) {
      std::snprintf(text, sizeof text, "its outputs differ by %.2g of the largest magnitude from those of single nodes",
                    witness.difference);
      witness.refused = text;
    } else if (witness.unequal > most_unequal) {
      std::snprintf(text, sizeof text, "%.2g %% of an output's integers differ from those of single nodes",
                    witness.unequal * 100);
      witness.refused = text;
    }
  }

  const Graph& original_;
  Graph graph_;
  const WitnessOptions& options_;
  Weights weights_;
  std::shared_ptr<Device> device_;  ///< null: the processor
  std::vector<std::shared_ptr<const Backend>> backends_;
  Resources resources_;
  Program program_;
  CallPlans plans_;
  LayoutChanges changes_;
  ModelCalls model_{};
  std::map<ValueId, Tensor> inputs_{};
  PackedConstants packed_;
  Seconds usual_round_trip_;
};

/// The witness of a model that no sequence can represent.
Witness make_node_by_node(const Graph& graph, const ResultDatabase& rows, const WitnessOptions& options) {
  const PinnedTeam team(options.threads);
  const OpenmpTeam openmp;
  std::optional<ThreadPool> pool;
  if (openmp.exists()) pool.emplace(openmp, options.threads);
  const Seconds usual = rows.ceilings(options.threads).round_trip;
  TeamSentinel sentinel([&] { return pool ? round_trip(*pool, options.threads) : Seconds{}; }, usual);
  const Seconds begin = now();
  wait_until_near(sentinel, options.budget * most_waiting);
  WitnessOptions rest = options;
  rest.budget = options.budget - std::min(now() - begin, options.budget * most_waiting);
  const auto backends = on_one_team(options.backends);
  Witness witness =
      execute_node_by_node(graph, CallPlans(rows.newest_rows(), backends, options.threads), rest, sentinel);
  witness.usual_round_trip = usual;
  return witness;
}

}  // namespace

Witness make_witness(const Graph& graph, const ResultDatabase& rows, const WitnessOptions& options) {
  Witness witness{.refused = obstacle(graph)};
  const bool data_decides = !witness.refused.empty();
  if (data_decides && device_of(options.backends)) return witness;
  try {
    return data_decides ? make_node_by_node(graph, rows, options) : Maker(graph, rows, options).make();
  } catch (const Error& error) {
    witness.refused = error.what();
  } catch (const std::bad_alloc&) {
    witness.refused = "out of memory";
  }
  return witness;
}

}  // namespace benanza
