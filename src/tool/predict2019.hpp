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

/// Adds to each target what the files have of the models on it. A table that names several GPUs has rows of a target
/// where one of them is among the names of its record. Throws InputError where the files hold rows of no target, or do
/// not say of which GPU they are and there are several targets.
void add_rows_2019(std::vector<PredictionTarget>& targets, const ModelOptions& models,
                   const std::vector<std::string>& files);

}  // namespace benanza::tool
