// SPDX-License-Identifier: Apache-2.0
// Sequence: the calls of a model with a plan for each, layout changes between them, and memory for all of them, so that
// one function executes the model.
#pragma once

#include "arena.hpp"
#include "layout_changes.hpp"
#include "model_calls.hpp"
#include "packed_constants.hpp"
#include <benanza/bounds/witness.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::execution {

/// The plan of each call: an index into `ModelCall::plans`.
using PlanChoice = std::vector<std::size_t>;

/// What a step of a sequence belongs to: a call, or a layout change.
struct StepOwner {
  struct Change {
    ValueId root = 0;
    Arrangement from{}, to{};
  };
  std::size_t call = 0;  ///< call of the model; for a change, the call that needs it
  std::optional<Change> change{};
};

class Sequence {
 public:
  /// What all sequences of a model share. It must outlive them. Steps of nodes that run by themselves are prepared.
  struct Model {
    const Graph& graph;
    Program& program;
    Resources& resources;
    const ModelCalls& calls;
    LayoutChanges& changes;
    const std::map<ValueId, Tensor>& inputs;
    PackedConstants& packed;
    Device* device = nullptr;  ///< on which plans run; null for the processor
  };
  /// Throws NotExecutable, and InputError if a device cannot change a layout.
  Sequence(const Model& model, const PlanChoice& choice);

  /// On a device, calls are only enqueued.
  void run();
  /// The same, reading the clock after each call; on a device, with events around each call. Returns the time of each
  /// call, in the order of `calls`.
  [[nodiscard]] std::vector<Seconds> run_timed();

  /// Times the layout changes for which there is no plan, each repeated by itself, and sets their `WitnessCall::alone`.
  /// Overwrites outputs.
  void time_layout_changes();
  /// The time that two consecutive calls take in addition to the times of each of them repeated. It is summed over all
  /// neighbours of which one runs on OpenMP's threads and the other on a pool of its own. Neighbours that read integers
  /// are left out: operands are arbitrary while calls are repeated. Overwrites outputs.
  [[nodiscard]] Seconds time_switches();

  /// Executes once. Compares samples of the result of each call with what the reference computes from the results of
  /// the calls before it. Calls of nodes by themselves are not compared.
  [[nodiscard]] WitnessCheck check(const PlanChoice& choice);

  /// The graph's outputs of the last execution, in its order.
  [[nodiscard]] std::vector<Tensor> outputs() const;
  /// The executed calls, without times in place.
  [[nodiscard]] const std::vector<WitnessCall>& calls() const { return calls_; }
  /// The owner of each of these calls.
  [[nodiscard]] const std::vector<StepOwner>& owners() const { return owners_; }
  [[nodiscard]] Bytes peak() const { return {static_cast<double>(arena_->bytes())}; }
  [[nodiscard]] Bytes all_tensors() const;

 private:
  /// A value in one form.
  using Place = std::pair<ValueId, Arrangement>;
  struct Step {
    std::function<void()> execute{};
    std::function<void()> bind{};  ///< sets the addresses once the arena exists
    std::optional<bool> openmp{};  ///< for a plan on several threads: whether they are OpenMP's
    bool repeatable = false;       ///< with any operands: it reads no integers and not its own result
  };
  struct Region {
    std::size_t bytes = 0, first = 0, last = 0;
    std::optional<std::size_t> whole{};  ///< the region that contains it, if any
    std::size_t offset = 0;              ///< within that, in bytes
    bool may_move = true;                ///< into another region: it is not an input of the graph
  };
  /// The plan that made a value, and the form of the value.
  struct Maker {
    const CallPlan* plan = nullptr;  ///< null for a node by itself or a value without a call
    std::size_t output = 0;
    Arrangement form{};
  };

  void add_call(const ModelCall& call, const CallPlan& plan);
  void add_in_place(const ModelCall& call, const CallPlan& plan);
  void add_node(const ModelCall& call);
  void add_copy(const ModelCall& call, const Tensor* constant, std::optional<std::size_t> region, std::size_t whole,
                std::size_t offset, std::size_t bytes);
  /// The region of a value in a form. Adds the conversion if the value does not exist in this form yet.
  std::size_t read(ValueId id, const Arrangement& form, const CallPlan* plan, std::size_t operand);
  std::size_t change(StepOwner::Change what, const LayoutChange& how, std::size_t from);
  void pack(StepOwner::Change what, std::size_t from, std::size_t to, std::function<void(const void*, void*)> how);
  std::size_t write(ValueId id, const Arrangement& form, std::size_t bytes);
  void use(std::size_t region);
  /// Finds the last call of the model that reads each value, by its root. Outputs of the graph are read after all
  /// calls.
  void find_last_readers();
  /// Whether the call for which steps are being made may overwrite operand `i`, which is in `regions[i]`: nothing else
  /// reads these bytes in the same call or later, and no other value shares them.
  [[nodiscard]] bool may_overwrite(std::size_t i, const GroupCall& group,
                                   const std::vector<std::optional<std::size_t>>& regions) const;
  /// The operand that the first result of the plan may overwrite. Empty if there is none.
  [[nodiscard]] std::optional<std::size_t> overwritten(const CallPlan& plan, const GroupCall& group,
                                                       const std::vector<std::optional<std::size_t>>& regions) const;
  /// The contents of a region in this form, as a tensor. `plan`: the plan of which it is an output.
  [[nodiscard]] Tensor row_major(Tensor to, std::size_t region, const Arrangement& form, const Plan* plan,
                                 std::size_t output) const;
  /// `values`: what the call reads, row-major, by root; `outputs`: what it has made, by their index in the layer.
  void compare(const ModelCall& call, const CallPlan& plan, const std::map<ValueId, Tensor>& values,
               const std::map<std::size_t, Tensor>& outputs, WitnessCheck& result) const;
  void push(Step step, WitnessCall said, std::optional<StepOwner::Change> change = {});
  void copy(void* to, const void* from, std::size_t bytes) const;
  void place();
  [[nodiscard]] std::byte* at(std::size_t region) const;
  /// The 10th percentile of the times of executions of these steps, one after the other.
  [[nodiscard]] Seconds time_steps(std::size_t first, std::size_t last);

  Model model_;
  std::vector<Step> steps_{};
  std::vector<WitnessCall> calls_{};
  std::vector<StepOwner> owners_{};
  std::size_t call_ = 0;          ///< for which steps are being made
  std::size_t end_of_calls_ = 0;  ///< the steps that follow bring outputs of the graph into row-major order
  std::vector<Region> regions_{};
  std::map<Place, std::size_t> places_{};
  std::map<ValueId, Maker> makers_{};
  std::map<ValueId, std::size_t> last_readers_{};  ///< root -> call
  std::size_t inner_ = 0;                          ///< number of results that are not values
  std::size_t written_over_ = 0;                   ///< bytes of results that overwrite an operand
  std::optional<Arena> arena_{};
  std::vector<std::size_t> blocks_{};  ///< blocks in the arena, for regions that are not part of another
};

}  // namespace benanza::execution
