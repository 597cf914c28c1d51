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
  std::vector<std::shared_ptr<const Backend>> backends{};  ///< the processor's, or one device's
  /// Where `backends` are a device's: the processor's backends, whose outputs are compared with those of the device;
  /// none: the reference.
  std::vector<std::shared_ptr<const Backend>> checked_by{};
  int threads = 1;                             ///< the most of a plan
  Seconds budget{5};                           ///< for executions, those that choose a sequence included
  std::optional<std::uint64_t> weight_seed{};  ///< as of ExecutorOptions
  std::uint64_t input_seed = 2020;             ///< seed of the inputs' random numbers
  bool check = false;                          ///< every call of a sequence against the reference (`Witness::check`)
};

/// The witness of a graph that was imported with `executable`. Groups of nodes run as one call where a row of the
/// database has a plan for the group and the group is a product or an element-wise function with its epilogue; what has
/// no row runs by the first plan that a backend offers, or by the reference. Plans are chosen together, so that few
/// layouts change between them. On a device all operands lie in its memory, and calls are recorded and launched as one
/// graph where its libraries can be recorded; a node that no plan of the device runs is refused. A model with control
/// flow, or with sizes that data decides, is executed node by node on the processor and refused on a device. Where
/// there is none, `Witness::refused` says why: a node that nothing computes, outputs that are wrong, or what failed
/// meanwhile. Throws no Error.
[[nodiscard]] Witness make_witness(const Graph& graph, const ResultDatabase& rows, const WitnessOptions& options);

}  // namespace benanza
