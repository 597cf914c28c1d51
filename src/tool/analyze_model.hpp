// SPDX-License-Identifier: Apache-2.0
// `analyze`, compiled once for all subcommands.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/results.hpp>

namespace benanza::tool {

[[nodiscard]] Analysis analyze_model(const ModelLayers& model, const ResultDatabase& results,
                                     const AnalysisOptions& options);

}  // namespace benanza::tool
