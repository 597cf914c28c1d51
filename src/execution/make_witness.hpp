// SPDX-License-Identifier: Apache-2.0
// make_witness: executes a whole model from measured plans, and times it (docs/witness.md).
#pragma once

#include <benanza/bounds/witness.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/plan/backend.hpp>
#include <benanza/results/results.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace benanza {

struct WitnessOptions {
  std::vector<std::shared_ptr<const Backend>> backends{};  ///< of the processor, or of one device
  /// If `backends` are of a device: the processor's backends whose outputs are compared with the device's; empty: the
  /// reference.
  std::vector<std::shared_ptr<const Backend>> checked_by{};
  int threads = 1;                             ///< the most that a plan uses
  Seconds budget{5};                           ///< for executions, including those that choose a sequence
  std::optional<std::uint64_t> weight_seed{};  ///< as in ExecutorOptions
  std::uint64_t input_seed = 2020;             ///< seed of the inputs' random numbers
  bool check = false;  ///< compare each call of a sequence with the reference (`Witness::check`)
};

/// The witness of a graph that was imported with `executable`. A group of nodes runs as one call if a row of the
/// database has a plan for the group and the group is a product or an element-wise function with its epilogue. What has
/// no row runs with the first plan that a backend offers, or with the reference. Plans are chosen together, so that few
/// layouts change between them. On a device all operands are in its memory, and calls are recorded and launched as one
/// graph if its libraries can be recorded; a node that no plan of the device runs is refused. A model with control flow
/// or data-dependent sizes is executed node by node on the processor and refused on a device. If there is no witness,
/// `Witness::refused` says why: a node that nothing computes, wrong outputs, or a failure during the execution. Throws
/// no Error.
[[nodiscard]] Witness make_witness(const Graph& graph, const ResultDatabase& rows, const WitnessOptions& options);

}  // namespace benanza
