// SPDX-License-Identifier: Apache-2.0
// The phases of a training iteration: the phase of each record, and the gap in each phase.
#pragma once

#include <benanza/gap/gap.hpp>
#include <benanza/model/model_layers.hpp>

#include <optional>
#include <vector>

namespace benanza::gap {

/// The phase of each record, determined by what encloses or launched it; empty if the engine marks no phases. PyTorch
/// marks them: what its autograd engine runs is backward, what an annotation of its optimizers encloses is update, and
/// all else is forward, including the loss.
[[nodiscard]] std::vector<std::optional<Phase>> phases_of(const std::vector<ProfileRecord>& records);

/// Whether a record of one phase may serve a layer of the other; an unknown phase may be any.
[[nodiscard]] bool may_be(const std::optional<Phase>& record, const std::optional<Phase>& layer);

/// Splits a gap whose groups and records are known by phase. `phases` as in GapOptions.
[[nodiscard]] std::vector<PhaseGap> phase_gaps(const Gap& gap, const Analysis& analysis, const ModelLayers& model,
                                               const std::vector<ProfileRecord>& records,
                                               const std::vector<Phase>& phases);

}  // namespace benanza::gap
