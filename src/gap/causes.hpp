// SPDX-License-Identifier: Apache-2.0
// split_gap: a gap's parts (gap.hpp says why they add up).
#pragma once

#include "match.hpp"
#include "record_times.hpp"
#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::gap {

/// The form whose layers a rung is made of.
[[nodiscard]] Form form_of(RungName rung);
/// Null if the analysis lacks it.
[[nodiscard]] const TimedGraph* timed_graph_of(const Analysis& analysis, Form form);
/// Expected time over all passes of loops; zero in a branch that the bound does not take.
[[nodiscard]] Seconds time_of(const TimedLayer& layer);
/// `Conv + BatchNorm + relu`: the operators of some layers of the single form, without views.
[[nodiscard]] std::string pattern_of(const LayerGraph& single, const std::vector<std::size_t>& layers);
/// What a layer is called in a pattern: its kind, or its function.
[[nodiscard]] std::string word_of(const Layer& layer);

/// The uncertainty of a difference between shares of records and times of the bound with the uncertainty `of_bound`.
[[nodiscard]] std::optional<Seconds> uncertainty_of(const RecordTimes& times,
                                                    const std::map<std::size_t, double>& shares, Seconds of_bound);

/// Fills in records, groups, parts and not_found of a gap whose latency and bound are known. `times` and `matches`
/// must be of the same profile.
void split_gap(Gap& gap, const Analysis& analysis, const ModelLayers& model, const EngineProfile& profile,
               const RecordTimes& times, const std::vector<RecordMatch>& matches);

}  // namespace benanza::gap
