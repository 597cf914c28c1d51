// SPDX-License-Identifier: Apache-2.0
// Rows for `predict` from the databases and printed tables of 2019.
#pragma once

#include "models.hpp"
#include <benanza/bounds/analysis.hpp>
#include <benanza/predict/make_prediction.hpp>

#include <string>
#include <vector>

namespace benanza::tool {

/// Adds the measured nodes of an analysis by the rules of 2019.
void add_rows_2019(FastestRows& rows, const Analysis& analysis);

/// Adds to each target what the files contain about the models on it. A table that names several GPUs has rows for a
/// target if one of them is among the names in its record. Throws InputError if the files have no rows of any target,
/// or if they do not name their GPU and there are several targets.
void add_rows_2019(std::vector<PredictionTarget>& targets, const ModelOptions& models,
                   const std::vector<std::string>& files);

}  // namespace benanza::tool
