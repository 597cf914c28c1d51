// SPDX-License-Identifier: Apache-2.0
// The accounting of the original Benanza (2019), to reproduce its published results from its databases and tables and
// to check its findings. A layer takes the least time over the algorithms of its call. A convolution with bias is two
// calls (forward, bias). LRN, Reshape, Concat, Unsqueeze, Flatten, global pooling, Identity and Transpose are free.
// Fused, a convolution is one call with its bias and with the activation that alone reads its result. The original's
// errors are named and not repeated: a call counts only if every argument is the layer's own.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/counted_layers.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/original2019/results.hpp>
#include <benanza/profile/engine_profile.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace benanza::original2019 {

struct Accounting {
  /// Rungs `library`, `library_parallel` (with the last layer's own time), `library_fused` and
  /// `library_fused_parallel`. The other rungs cannot be given, nor can the fused ones of a printed table. A layer
  /// without a time is in `missing` with its node's name and the reason, and adds no time. `reference` holds what the
  /// original would have printed, which left out the last layer's own time in parallel totals (except for the V100 at
  /// batch 1), and `library_advised`, the total with the algorithms that cuDNN's heuristic chose.
  Analysis analysis{};
  std::vector<std::string> warnings{};  ///< known defects of the data, and the layers that have them
};

/// Throws InputError for a model with control flow, which the rules do not cover, and for a table that lacks the model.
[[nodiscard]] Accounting analyze(const Graph& graph, const Results& results);

/// Layers as the paper counted them: each node of the file that computes something at run time, free or not. Two layers
/// are the same if operator, attributes, and types and shapes of all inputs, including weights, are equal. The graph
/// must be an executable import, since other imports leave nodes out. With results, the time of a layer is the time of
/// its calls. Throws InputError as `analyze` does.
[[nodiscard]] CountedLayers count_layers(const Graph& graph, const Results* results = nullptr);

/// A convolution that an engine ran with a slower algorithm than the best one in a database.
struct SlowerAlgorithm {
  std::string signature{};  ///< signature of the call
  std::string chosen{}, best{};
  Seconds chosen_time{}, best_time{};  ///< of one call, from the database
  std::int64_t count = 0;              ///< calls in a pass
  bool padded_before = false;          ///< the engine padded the input itself, with its own kernel
  [[nodiscard]] double ratio() const { return chosen_time / best_time; }
  [[nodiscard]] Seconds gain() const { return (chosen_time - best_time) * static_cast<double>(count); }
};

/// A convolution of an engine that a database does not have, or not with the algorithm that the engine chose.
struct UnknownAlgorithm {
  std::string signature{};  ///< signature of the call
  std::string chosen{};
  std::int64_t count = 0;  ///< calls in a pass
};

struct AlgorithmFindings {
  std::vector<SlowerAlgorithm> slower{};  ///< largest gain first
  std::int64_t compared = 0;              ///< calls in a pass that are in the database
  Seconds compared_time{};                ///< their time in the database, with the algorithms that the engine chose
  std::vector<UnknownAlgorithm> not_compared{};

  /// What the engine's choices cost: chosen over best; empty if no call was compared.
  [[nodiscard]] std::optional<double> chosen_over_best() const {
    if (compared_time.value <= 0) return std::nullopt;
    Seconds best = compared_time;
    for (const auto& each : slower) best.value -= each.gain().value;
    return compared_time / best;
  }
};

/// Compares the convolutions of an API log with a database of the same GPU and batch size.
[[nodiscard]] AlgorithmFindings find_slower_algorithms(const std::vector<LibraryCall>& calls, const Results& results);

/// The findings in the form of Gap::algorithms; those that were not compared have no times. Each one's layer is the
/// first layer of an analysis by `analyze` that makes such a call.
[[nodiscard]] std::vector<AlgorithmChoice> choices_of(const AlgorithmFindings& findings, const Analysis& analysis);

}  // namespace benanza::original2019
