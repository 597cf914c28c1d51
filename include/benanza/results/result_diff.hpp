// SPDX-License-Identifier: Apache-2.0
// diff_layers: what changed from one set of results to another: two machines, two versions of a library, two dates. A
// verdict for each layer. bounds/model_diff.hpp has the same for models.
#pragma once

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

/// Kernels of one call that only one of two rows launches. Kernels are alike if name, geometry, registers and shared
/// memory are; of alike ones as many count as one side has more. In the order in which they are launched.
struct KernelChanges {
  std::vector<KernelLaunch> gone{}, added{};

  [[nodiscard]] bool any() const { return !gone.empty() || !added.empty(); }
};

/// A layer in one cache state, by its fastest valid row on each side.
struct LayerChange {
  std::string signature{};
  CacheState cache = CacheState::hot;
  std::optional<Measurement> before{}, after{};
  Comparison comparison{};
  std::optional<KernelChanges> kernels{};  ///< nothing unless the rows of both sides have theirs
};

/// Each side holds one machine and one version of each backend (ResultDatabase::select); of two rows of one plan the
/// later run's counts. `only`: the signatures to compare; empty: all of both sides.
[[nodiscard]] std::vector<LayerChange> diff_layers(const ResultDatabase& before, const ResultDatabase& after,
                                                   const DiffOptions& options = {},
                                                   const std::set<std::string>& only = {});

}  // namespace benanza
