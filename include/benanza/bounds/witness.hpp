// SPDX-License-Identifier: Apache-2.0
// Witness: a model that was executed with the plans that the bound is made of, and the time that this took. The ladder
// says what should be possible; this was achieved (docs/witness.md). `make_witness` (execution/make_witness.hpp) makes
// it.
#pragma once

#include <benanza/model/units.hpp>
#include <benanza/results/round_trips.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

/// One call of the sequence.
struct WitnessCall {
  std::vector<std::string> nodes{};  ///< that it computes; for a change of layout, those whose operand it is
  /// `onednn brgconv:avx2,threads=2`; `layout`; `reference`; `in place`: tensors are already where they belong, and
  /// nothing is called; empty: no layer does it.
  std::string plan{};
  /// A change of layout that is a layer (docs/witness.md): its signature, and the plan that computes it. Empty for all
  /// other calls.
  std::string layer{}, layout_plan{};
  Seconds alone{};    ///< the plan's row, everything in the caches; without a row, a layout repeated by itself; 0: none
  Seconds fastest{};  ///< the row of the fastest plan that the call could have; 0: none, or the bound counts none
  Seconds in_place{};  ///< lowest decile of executions in which each call was timed
  Seconds once{};      ///< in the fastest of these executions
};

/// Comparison of calls with the reference, each on the values that the calls before it computed.
struct WitnessCheck {
  std::size_t calls = 0;             ///< that were compared
  std::size_t wrong = 0;             ///< outputs that differ by more than their plan may
  std::vector<std::string> nodes{};  ///< of the call with the largest difference; of a wrong one, if there is any
  std::string plan{};                ///< of that call, as `WitnessCall::plan`
  double difference = 0;             ///< of that call, relative to the largest magnitude
  double tolerance = 0;              ///< of its plan
};

struct Witness {
  Seconds p10{}, median{};     ///< whole executions, from inputs to outputs
  double uncertainty = 0;      ///< of `p10`, relative: half of its confidence interval; infinite: unknown
  std::size_t executions = 0;  ///< timed ones that count
  std::size_t discarded = 0;   ///< timed ones that do not: the threads were far from each other (docs/witness.md)
  Seconds round_trip{};        ///< the shortest between the threads during the executions; 0: one thread, or a device
  Seconds usual_round_trip{};  ///< the database's usual value; 0: none
  int threads = 1;             ///< the most that one of its plans has
  bool one_graph = false;      ///< on a device: its calls were recorded, and are launched as one graph
  /// Data decides what is called or how large it is: no sequence is fixed in advance, and an executor runs the model
  /// node by node. A call is then what a node takes with one plan, all passes of a loop together. `peak`,
  /// `all_tensors`, `difference` and `unequal` are not known, and nothing joins calls.
  bool node_by_node = false;
  std::size_t checked = 0;  ///< node by node: outputs of plans that agree with the reference on the same inputs
  std::vector<WitnessCall> calls{};
  Bytes peak{};                         ///< of the arena: activations, layouts and workspaces
  Bytes all_tensors{};                  ///< the same tensors, each in memory of its own
  double difference = 0;                ///< of outputs from those of single nodes, relative to the largest magnitude
  double unequal = 0;                   ///< share of an output's integers that differ from those of single nodes
  double allowed = 0;                   ///< the largest difference that passes
  std::optional<WitnessCheck> check{};  ///< if it was requested
  Seconds switches{};                   ///< from one library's threads to another's, measured on pairs of calls
  std::size_t tried = 0;                ///< sequences that were executed to find the fastest
  std::string refused{};                ///< the reason if the witness is missing, otherwise empty

  [[nodiscard]] bool given() const { return refused.empty() && executions > 0; }
  /// Whether its threads were far from each other during all executions: these count, but are slower than usual.
  [[nodiscard]] bool distant() const { return threads > 1 && is_distant(round_trip, usual_round_trip); }
  [[nodiscard]] Seconds layout_changes() const { return time_of("layout"); }
  [[nodiscard]] Seconds by_reference() const { return time_of("reference"); }
  /// The same changes, each repeated by itself.
  [[nodiscard]] Seconds layout_changes_alone() const {
    Seconds sum{};
    for (const auto& call : calls)
      if (call.plan == "layout") sum += call.alone;
    return sum;
  }
  /// By how much the rows of the chosen plans exceed those of the fastest ones.
  [[nodiscard]] Seconds slower_plans() const {
    Seconds sum{};
    for (const auto& call : calls) sum += std::max(Seconds{}, beyond_fastest(call));
    return sum;
  }
  /// What the bound counts and the sequence does not need: movement that is unnecessary, or faster than in row-major
  /// order, because of the order of a neighbour's elements. Not part of `chained`.
  [[nodiscard]] Seconds saved_by_orders() const {
    Seconds sum{};
    for (const auto& call : calls) sum += std::max(Seconds{}, Seconds{} - beyond_fastest(call));
    return sum;
  }
  /// The rung `library_chained`: the bound, which is a sum of calls, plus what joining them costs. Never below that
  /// sum.
  [[nodiscard]] Seconds chained(Seconds library_fused_resident) const {
    return library_fused_resident + slower_plans() + layout_changes_alone() + switches;
  }
  /// The time of all calls, by the clock between them.
  [[nodiscard]] Seconds in_calls() const {
    Seconds sum{};
    for (const auto& call : calls) sum += call.in_place;
    return sum;
  }
  /// Whether libraries did nearly all of it: the reference took at most 1 % of the time.
  [[nodiscard]] bool representative() const { return by_reference().value <= 0.01 * in_calls().value; }

 private:
  /// The row of a call's plan minus the row of the fastest plan; 0 if there is nothing to compare.
  [[nodiscard]] static Seconds beyond_fastest(const WitnessCall& call) {
    const bool has_row = call.plan == "in place" || (call.plan != "layout" && call.alone.value > 0);
    return has_row ? call.alone - call.fastest : Seconds{};
  }
  [[nodiscard]] Seconds time_of(std::string_view plan) const {
    Seconds sum{};
    for (const auto& call : calls)
      if (call.plan == plan) sum += call.in_place;
    return sum;
  }
};

}  // namespace benanza
