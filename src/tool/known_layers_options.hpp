// SPDX-License-Identifier: Apache-2.0
// Which layers of a set of models a database of other models already has: `benanza layers --known`; and the count of
// the paper of 2019: `benanza layers --rules 2019`.
#pragma once

#include "options.hpp"
#include <benanza/report/report.hpp>
#include <benanza/results/results.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::tool {

struct KnownLayersOptions {
  std::vector<std::string> known{};    ///< models, or results
  std::vector<std::string> results{};  ///< results with the cost of layers
  MachineChoice of{};                  ///< of either
  std::string rules{}, device{};

  void add_to(CLI::App& app);
  [[nodiscard]] bool asked() const { return !known.empty() || !rules.empty(); }
};

/// By model, in order, and for all of them at the end. The layers of the models themselves do not count as known.
/// Throws UsageError for options that contradict each other, InputError for what cannot be read.
[[nodiscard]] KnownLayersReport known_layers_report(const KnownLayersOptions& options, const ModelOptions& models,
                                                    bool fused);

}  // namespace benanza::tool
