// SPDX-License-Identifier: Apache-2.0
// analyze: computes a model's ladder of bounds from its layers and stored results. Pure computation: no device, no
// file, no library. docs/measuring.md says what each rung is ("The ladder") and for which engines it holds ("What each
// rung assumes").
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/results.hpp>

namespace benanza {

/// `results`: of one machine, with one version of each backend (ResultDatabase::select). Without ceilings, the analytic
/// rungs are unknown. Throws InputError for results of several machines, and lists these.
[[nodiscard]] Analysis analyze(const ModelLayers& model, const ResultDatabase& results,
                               const AnalysisOptions& options = {});

}  // namespace benanza

#ifndef BENANZA_COMPILED
#include <benanza/impl/bounds/analyze_inl.hpp>
#endif
