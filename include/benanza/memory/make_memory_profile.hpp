// SPDX-License-Identifier: Apache-2.0
// make_memory_profile: which tensor lives when.
#pragma once

#include <benanza/memory/memory_profile.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/model/layer.hpp>
#include <benanza/training/kept_tensor.hpp>
#include <benanza/training/training_graph.hpp>

#include <functional>
#include <optional>

namespace benanza {

struct MemoryOptions {
  Saved saved = Saved::least;
  Optimizer optimizer = Optimizer::sgd;  ///< the optimizer of the iteration
  bool overwrite = true;                 ///< an element-wise node overwrites an operand that it is the last to read
  bool lists = true;                     ///< false: leaves out blocks, layers and names of steps, which take memory
  /// Bytes of the workspace of the plan that runs a layer. Nothing if they are not known.
  std::function<std::optional<double>(const Layer&)> workspace{};
};

/// The iteration's nodes run one after the other, in their order. A tensor lives from the node that computes it to the
/// last one that reads it. Views and movements share their operand's memory. An element-wise node overwrites an operand
/// that it is the last to read. Weights, buffers, states and inputs live throughout; gradients of parameters live until
/// the end.
[[nodiscard]] MemoryProfile make_memory_profile(const TrainingGraph& iteration, const MemoryOptions& options = {});
/// The same for a run without training: results of the forward pass are freed after their last reader.
[[nodiscard]] MemoryProfile make_memory_profile(const Graph& graph, const MemoryOptions& options = {});

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/memory/make_memory_profile_inl.hpp>
#endif
