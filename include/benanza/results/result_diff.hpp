// SPDX-License-Identifier: Apache-2.0
// diff_layers: what changed from one set of results to another: two machines, two versions of a library, two dates. It
// gives a verdict for each layer; bounds/model_diff.hpp does the same for models.
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
  int threads_before = 0, threads_after = 0;  ///< rows with more threads do not count; 0: the machine's cores
};

/// Kernels of one call that only one of two rows launches. Kernels are alike if name, geometry, registers and shared
/// memory are equal; the surplus of alike kernels on one side counts. In the order in which they are launched.
struct KernelChanges {
  std::vector<KernelLaunch> gone{}, added{};

  [[nodiscard]] bool any() const { return !gone.empty() || !added.empty(); }
};

/// A layer in one cache state, with its fastest valid row on each side.
struct LayerChange {
  std::string signature{};
  CacheState cache = CacheState::hot;
  std::optional<Measurement> before{}, after{};
  Comparison comparison{};
  std::optional<KernelChanges> kernels{};  ///< empty unless the rows of both sides have kernels
};

/// Each side holds one machine and one version of each backend (ResultDatabase::select). If a side has two rows of one
/// plan, the row of the later run counts. `only`: the signatures to compare; empty: all of both sides.
[[nodiscard]] std::vector<LayerChange> diff_layers(const ResultDatabase& before, const ResultDatabase& after,
                                                   const DiffOptions& options = {},
                                                   const std::set<std::string>& only = {});

}  // namespace benanza
