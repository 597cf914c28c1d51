// SPDX-License-Identifier: Apache-2.0
// Sequence: the calls of a model with a plan for each, changes of layout between them, and memory for all, so that one
// function executes the model.
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

/// Which plan each call takes: an index into `ModelCall::plans`.
using PlanChoice = std::vector<std::size_t>;

/// What a step of a sequence belongs to: a call, or a change of layout.
struct StepOwner {
  struct Change {
    ValueId root = 0;
    Arrangement from{}, to{};
  };
  std::size_t call = 0;  ///< call of the model; for a change, the call that wants it
  std::optional<Change> change{};
};

class Sequence {
 public:
  /// What all sequences of a model share, which outlives them; steps of nodes that run by themselves are prepared.
  struct Model {
    const Graph& graph;
    Program& program;
    Resources& resources;
    const ModelCalls& calls;
    LayoutChanges& changes;
    const std::map<ValueId, Tensor>& inputs;
    PackedConstants& packed;
    Device* device = nullptr;  ///< that plans work on; null: the processor
  };
  /// Throws NotExecutable, and InputError where a device cannot change a layout.
  Sequence(const Model& model, const PlanChoice& choice);

  /// On a device, calls are only enqueued.
  void run();
  /// The same with a reading of the clock behind each call, on a device with events around it; what each took, in the
  /// order of `calls`.
  [[nodiscard]] std::vector<Seconds> run_timed();

  /// What changes of layout that no plan does take when each is repeated by itself: sets `WitnessCall::alone`. Outputs
  /// are lost.
  void time_layout_changes();
  /// What two calls one after the other take longer than each of them repeated, over all neighbours of which one runs
  /// on OpenMP's threads and the other on a pool of its own. Neighbours that read integers are left out: while calls
  /// are repeated, their operands are arbitrary. Outputs are lost.
  [[nodiscard]] Seconds time_switches();

  /// Executes once, and compares what each call gives with what the reference computes from the values that the calls
  /// before it gave, at samples. Calls of nodes by themselves are not compared.
  [[nodiscard]] WitnessCheck check(const PlanChoice& choice);

  /// The graph's outputs of the last execution, in its order.
  [[nodiscard]] std::vector<Tensor> outputs() const;
  /// What is executed, without times in place.
  [[nodiscard]] const std::vector<WitnessCall>& calls() const { return calls_; }
  /// Whose each of these is.
  [[nodiscard]] const std::vector<StepOwner>& owners() const { return owners_; }
  [[nodiscard]] Bytes peak() const { return {static_cast<double>(arena_->bytes())}; }
  [[nodiscard]] Bytes all_tensors() const;

 private:
  /// Where a value lies in one form.
  using Place = std::pair<ValueId, Arrangement>;
  struct Step {
    std::function<void()> execute{};
    std::function<void()> bind{};  ///< sets the addresses, when the arena is there
    std::optional<bool> openmp{};  ///< set for a plan on several threads: whether they are OpenMP's
    bool repeatable = false;       ///< on any operands: it reads no integers, and its result is not its next operand
  };
  struct Region {
    std::size_t bytes = 0, first = 0, last = 0;
    std::optional<std::size_t> whole{};  ///< the region that it is a part of
    std::size_t offset = 0;              ///< within that, in bytes
    bool may_move = true;                ///< into another one: it is not an input of the graph
  };
  /// What made a value, and in which form.
  struct Maker {
    const CallPlan* plan = nullptr;  ///< null: a node by itself, or nothing but a place
    std::size_t output = 0;
    Arrangement form{};
  };

  void add_call(const ModelCall& call, const CallPlan& plan);
  void add_in_place(const ModelCall& call, const CallPlan& plan);
  void add_node(const ModelCall& call);
  void add_copy(const ModelCall& call, const Tensor* constant, std::optional<std::size_t> region, std::size_t whole,
                std::size_t offset, std::size_t bytes);
  /// The region of a value in a form, which it is brought into where it is not yet.
  std::size_t read(ValueId id, const Arrangement& form, const CallPlan* plan, std::size_t operand);
  std::size_t change(StepOwner::Change what, const LayoutChange& how, std::size_t from);
  void pack(StepOwner::Change what, std::size_t from, std::size_t to, std::function<void(const void*, void*)> how);
  std::size_t write(ValueId id, const Arrangement& form, std::size_t bytes);
  void use(std::size_t region);
  /// Which call of the model reads a value last, by its root; outputs of the graph are read after all calls.
  void find_last_readers();
  /// Whether the call that steps are made for may write over operand `i`, which lies in `regions[i]`: nothing else
  /// reads these bytes in the same call or later, and no other value shares them.
  [[nodiscard]] bool may_overwrite(std::size_t i, const BoundGroup& group,
                                   const std::vector<std::optional<std::size_t>>& regions) const;
  /// The operand that the first result of the plan may be written over; nothing where there is none.
  [[nodiscard]] std::optional<std::size_t> overwritten(const CallPlan& plan, const BoundGroup& group,
                                                       const std::vector<std::optional<std::size_t>>& regions) const;
  /// What lies in a region in this form, as a tensor. `plan`: whose output it is.
  [[nodiscard]] Tensor row_major(Tensor to, std::size_t region, const Arrangement& form, const Plan* plan,
                                 std::size_t output) const;
  /// `values`: what the call reads, row-major, by root; `outputs`: what it has made, by their place in the layer.
  void compare(const ModelCall& call, const CallPlan& plan, const std::map<ValueId, Tensor>& values,
               const std::map<std::size_t, Tensor>& outputs, WitnessCheck& result) const;
  void push(Step step, WitnessCall said, std::optional<StepOwner::Change> change = {});
  void copy(void* to, const void* from, std::size_t bytes) const;
  void place();
  [[nodiscard]] std::byte* at(std::size_t region) const;
  /// Least decile of executions of these steps, one after the other.
  [[nodiscard]] Seconds time_steps(std::size_t first, std::size_t last);

  Model model_;
  std::vector<Step> steps_{};
  std::vector<WitnessCall> calls_{};
  std::vector<StepOwner> owners_{};
  std::size_t call_ = 0;          ///< that steps are made for
  std::size_t end_of_calls_ = 0;  ///< the steps that follow bring outputs of the graph into row-major order
  std::vector<Region> regions_{};
  std::map<Place, std::size_t> places_{};
  std::map<ValueId, Maker> makers_{};
  std::map<ValueId, std::size_t> last_readers_{};  ///< root -> call
  std::size_t inner_ = 0;                          ///< results that no value stands for
  std::size_t written_over_ = 0;                   ///< bytes of results that lie where an operand was
  std::optional<Arena> arena_{};
  std::vector<std::size_t> blocks_{};  ///< blocks in the arena, for regions that are no part of another
};

}  // namespace benanza::execution
