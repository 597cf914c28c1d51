// SPDX-License-Identifier: Apache-2.0
// ResultDiff: what changed from one set of results to another: two machines, two versions of a library, two dates. A
// verdict for each layer and, given models, for each measured rung of each of them.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/results/comparison.hpp>
#include <benanza/results/results.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace benanza {

struct DiffOptions {
  double tolerance = default_tolerance;
  int threads_before = 0, threads_after = 0;  ///< the most threads of a row that counts; 0: the machine's cores
};

/// A layer in one cache state, by its fastest valid row on each side.
struct LayerChange {
  std::string signature{};
  CacheState cache = CacheState::hot;
  std::optional<Measurement> before{}, after{};
  Comparison comparison{};
};

/// A measured rung of a model on each side.
struct RungChange {
  RungName rung{};
  Rung before{}, after{};
  Comparison comparison{};
};

struct ModelChange {
  std::string model{};
  std::vector<RungChange> rungs{};
};

struct ResultDiff {
  std::vector<LayerChange> layers{};  ///< slower, faster, unknown, same; the greatest change first
  std::vector<ModelChange> models{};
  /// Whether a model's rung has the verdict or, without models, a layer.
  [[nodiscard]] bool has(Verdict verdict) const;
};

/// Each side holds one machine and one version of each backend (ResultDatabase::select); of two rows of one plan the
/// later run's counts. `only`: the signatures to compare; empty: all of both sides.
[[nodiscard]] std::vector<LayerChange> diff_layers(const ResultDatabase& before, const ResultDatabase& after,
                                                   const DiffOptions& options = {},
                                                   const std::set<std::string>& only = {});

/// Compares the measured rungs, p10 and median of rounds, by the uncertainty that each has. A rung that is absent on
/// both sides is left out; one that misses layers is unknown.
[[nodiscard]] ModelChange diff_models(const Analysis& before, const Analysis& after, const DiffOptions& options = {});

}  // namespace benanza
