// SPDX-License-Identifier: Apache-2.0
// The accounting of the original Benanza (2019), so that its published results can be reproduced from its databases and
// tables, and its findings checked. A layer takes the least time over the algorithms of its call; a convolution with
// bias is two calls (forward, bias); LRN, Reshape, Concat, Unsqueeze, Flatten, global pooling, Identity, Transpose are
// free; fused, a convolution with its bias, and the activation that alone reads its result, is one call. Its errors are
// named and not repeated: a call counts only when every argument is the layer's own.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/gap/gap.hpp>
#include <benanza/model/counted_layers.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/profile/engine_profile.hpp>
#include <benanza/results/results2019.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace benanza {

struct Analysis2019 {
  /// Rungs `library`, `library_parallel` (with the last layer's own time), `library_fused`, `library_fused_parallel`;
  /// the others cannot be given, nor the fused ones of a printed table. A layer without a time is in `missing` with its
  /// node's name and the reason, and counts nothing. `reference` holds what the original would have printed, which left
  /// out the last layer's own time in parallel totals (but for the V100 at batch 1), and `library_advised`, the total
  /// by the algorithms that cuDNN's heuristic chose.
  Analysis analysis{};
  std::vector<std::string> warnings{};  ///< known defects of the data, and which layers they are in
};

/// Throws InputError for a model with control flow, which the rules do not cover, and for a table without the model.
[[nodiscard]] Analysis2019 analyze_2019(const Graph& graph, const Results2019& results);

/// Layers as the paper counted them: each node of the file that computes something at run time, free or not; the same
/// where operator, attributes, and types and shapes of all inputs are equal, weights included. The graph is an
/// executable import, since others leave nodes out. With results, the time of a layer is that of its calls. Throws
/// InputError as `analyze_2019` does.
[[nodiscard]] CountedLayers count_layers_2019(const Graph& graph, const Results2019* results = nullptr);

/// A convolution that an engine ran by a slower algorithm than the best of a database.
struct SlowerAlgorithm {
  std::string signature{};  ///< signature of the call
  std::string chosen{}, best{};
  Seconds chosen_time{}, best_time{};  ///< one call, by the database
  std::int64_t count = 0;              ///< calls in a pass
  bool padded_before = false;          ///< the engine padded the input itself, by a kernel of its own
  [[nodiscard]] double ratio() const { return chosen_time / best_time; }
  [[nodiscard]] Seconds gain() const { return (chosen_time - best_time) * static_cast<double>(count); }
};

struct AlgorithmFindings2019 {
  std::vector<SlowerAlgorithm> slower{};    ///< largest gain first
  std::int64_t compared = 0;                ///< calls in a pass that the database knows
  Seconds compared_time{};                  ///< their time by the database, with the algorithms that the engine chose
  std::vector<std::string> not_compared{};  ///< signatures of calls that it does not know, or not with that algorithm

  /// What the engine's choices cost: chosen over best; nothing where no call was compared.
  [[nodiscard]] std::optional<double> chosen_over_best() const {
    if (compared_time.value <= 0) return std::nullopt;
    Seconds best = compared_time;
    for (const auto& each : slower) best.value -= each.gain().value;
    return compared_time / best;
  }
};

/// Holds the convolutions of an API log against a database of the same GPU and batch size.
[[nodiscard]] AlgorithmFindings2019 find_slower_algorithms(const std::vector<LibraryCall>& calls,
                                                           const Results2019& results);

/// The findings as Gap::algorithms has them, those that were not compared without times; the layer is the first of an
/// analysis by `analyze_2019` that makes such a call.
[[nodiscard]] std::vector<AlgorithmChoice> choices_of(const AlgorithmFindings2019& findings, const Analysis& analysis);

}  // namespace benanza
