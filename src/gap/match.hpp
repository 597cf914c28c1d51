// SPDX-License-Identifier: Apache-2.0
// match: which layers of the model each record of a profile serves.
#pragma once

#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::gap {

struct RecordMatch {
  MatchedBy by = MatchedBy::nothing;
  std::vector<std::size_t> layers{};  ///< layers of the single form, ascending
};

/// Matches by name first. A layer that no record names goes to the record that serves the rest of its group, because
/// engines name a fused call after one of its nodes. The other records match by position and shape in the model, then
/// by class of kernel, among the layers that are left; then layers that are still left go to their groups again.
/// `counted`: the records whose time counts; others match only by name, for the records below them. `phases` as in
/// GapOptions: a record of one phase of an iteration does not serve a layer of another phase.
[[nodiscard]] std::vector<RecordMatch> match(const ModelLayers& model, const EngineProfile& profile,
                                             const std::vector<bool>& counted, const std::vector<Phase>& phases);

}  // namespace benanza::gap
