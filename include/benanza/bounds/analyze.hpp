// SPDX-License-Identifier: Apache-2.0
// analyze: from a model's layers and stored results to its ladder of bounds. Pure computation: no device, no file, no
// library. docs/measuring.md, "The ladder", says what each rung is; "What each rung assumes" says for which engines it
// holds.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/detail/compiled.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/results.hpp>

namespace benanza {

/// `results` must hold one machine and one version of each backend (ResultDatabase::select). Without ceilings the
/// analytic rungs are absent.
[[nodiscard]] Analysis analyze(const ModelLayers& model, const ResultDatabase& results,
                               const AnalysisOptions& options = {});

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/bounds/detail/analyze.hpp>
#endif
