// SPDX-License-Identifier: Apache-2.0
// Sequence: the calls of a model with a plan for each, changes of layout between them, and memory for all, so that one
// function executes the model.
#pragma once

#include "arena.hpp"
#include "model_calls.hpp"
#include <benanza/bounds/witness.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::execution {

/// Which plan each call takes: an index into `ModelCall::plans`.
using PlanChoice = std::vector<std::size_t>;

/// In what form a plan takes an operand or gives a result: `plain`, or a name that is equal where two plans of a
/// backend mean the same memory.
[[nodiscard]] std::string layout_key(const CallPlan& plan, const Layout& layout, const Operand& operand);

class Sequence {
 public:
  /// `model`, `program` and `resources` outlive it; steps of nodes that run by themselves are prepared. Throws
  /// NotExecutable.
  Sequence(const Graph& graph, Program& program, Resources& resources, const ModelCalls& model,
           const PlanChoice& choice, const std::map<ValueId, Tensor>& inputs);

  void run();
  /// The same with a reading of the clock behind each call; what each took, in the order of `calls`.
  [[nodiscard]] std::vector<Seconds> run_timed();

  /// What changes of layout take when each is repeated by itself: sets `WitnessCall::alone`. Outputs are lost.
  void time_layout_changes();
  /// What two calls one after the other take longer than each of them repeated, over all neighbours of which one runs
  /// on OpenMP's threads and the other on a pool of its own. Neighbours that read integers are left out: while calls
  /// are repeated, their operands are arbitrary. Outputs are lost.
  [[nodiscard]] Seconds time_switches();

  /// The graph's outputs of the last execution, in its order.
  [[nodiscard]] std::vector<Tensor> outputs() const;
  /// What is executed, without times in place.
  [[nodiscard]] const std::vector<WitnessCall>& calls() const { return calls_; }
  [[nodiscard]] Bytes peak() const { return {static_cast<double>(arena_->bytes())}; }
  [[nodiscard]] Bytes all_tensors() const;

 private:
  /// Where a value lies in one form.
  using Place = std::pair<ValueId, std::string>;
  struct Step {
    std::function<void()> execute{};
    std::function<void()> bind{};  ///< sets the addresses, when the arena is there
    std::optional<bool> openmp{};  ///< of a plan on several threads: whether they are OpenMP's
    bool repeatable = false;       ///< on any operands: it reads no integers
  };

  void add_call(const ModelCall& call, const CallPlan& plan);
  void add_node(const ModelCall& call);
  /// The region of a value in a form, which it is brought into where it is not yet.
  std::size_t read(ValueId id, const std::string& form, const ModelCall* call, const CallPlan* plan,
                   std::size_t operand);
  std::size_t write(ValueId id, const std::string& form, std::size_t bytes);
  void use(std::size_t region);
  void push(Step step, WitnessCall said);
  /// Least decile of executions of these steps, one after the other.
  [[nodiscard]] Seconds time_steps(std::size_t first, std::size_t last);

  const Graph& graph_;
  Program& program_;
  Resources& resources_;
  const ModelCalls& model_;
  std::vector<Step> steps_{};
  std::vector<WitnessCall> calls_{};
  std::vector<MemoryNeed> regions_{};
  std::map<Place, std::size_t> places_{};
  struct Maker {
    const CallPlan* plan = nullptr;
    std::size_t output = 0;
    std::string form{};
  };
  std::map<ValueId, Maker> makers_{};
  std::size_t inner_ = 0;  ///< results that no value stands for
  std::optional<Arena> arena_{};
};

}  // namespace benanza::execution
