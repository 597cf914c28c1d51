// SPDX-License-Identifier: Apache-2.0
// assumptions: what must hold before a bound can explain a profile: the same device, the same model, one run.
#pragma once

#include "record_times.hpp"
#include <benanza/gap/gap.hpp>

#include <string>

namespace benanza::gap {

/// Why the engine's run cannot be compared with this bound: it is below the model floor, which means that it computes
/// something else or was read wrongly, or it was on another device. Empty if it can be compared.
[[nodiscard]] std::string why_outside(const Analysis& analysis, const EngineProfile& profile, const Gap& gap);

/// Judges the profile as a whole by the result of the matching. If it is cut off, belongs to another model or unit, or
/// holds two models, then the gap, the claims about layers, or what counts as explained are withdrawn.
void settle_claims(Gap& gap, const Analysis& analysis, const EngineProfile& profile, const RecordTimes& times);

}  // namespace benanza::gap
