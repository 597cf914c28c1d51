// SPDX-License-Identifier: Apache-2.0
// Rows for a prediction from the databases and printed tables of 2019.
#pragma once

#include <benanza/bounds/analysis.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/predict/make_prediction.hpp>

#include <filesystem>
#include <span>
#include <vector>

namespace benanza::original2019 {

/// Adds the measured nodes of an analysis by the rules of 2019.
void add_rows(FastestRows& rows, const Analysis& analysis);

/// Adds to each target what the files contain about the models on it. A table that names several GPUs has rows for a
/// target if one of them is among the names in its record. Throws InputError if the files have no rows of any target,
/// or if they do not name their GPU and there are several targets.
void add_rows(std::vector<PredictionTarget>& targets, std::span<const Graph> graphs,
              std::span<const std::filesystem::path> files);

}  // namespace benanza::original2019
