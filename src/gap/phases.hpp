// SPDX-License-Identifier: Apache-2.0
// The phases of an iteration of training: which record runs in which, and what the gap is in each.
#pragma once

#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

#include <optional>
#include <vector>

namespace benanza::gap {

/// The phase of each record, by what encloses or launched it. Nothing where the engine marks no phases. PyTorch does:
/// what its autograd engine runs is backward, what an annotation of its optimizers encloses is update, and all else is
/// forward, the loss included.
[[nodiscard]] std::vector<std::optional<Phase>> phases_of(const std::vector<ProfileRecord>& records);

/// Whether a record of the one phase may serve a layer of the other: what is not known may be anything.
[[nodiscard]] bool may_be(const std::optional<Phase>& record, const std::optional<Phase>& layer);

/// A gap whose groups and records are known, phase by phase. `phases` as in GapOptions.
[[nodiscard]] std::vector<PhaseGap> phase_gaps(const Gap& gap, const Analysis& analysis, const ModelLayers& model,
                                               const std::vector<ProfileRecord>& records,
                                               const std::vector<Phase>& phases);

}  // namespace benanza::gap
