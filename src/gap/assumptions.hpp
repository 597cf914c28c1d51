// SPDX-License-Identifier: Apache-2.0
// assumptions: what must hold before a profile can be explained by a bound: the same device, the same model, one run.
#pragma once

#include "timeline.hpp"
#include <benanza/gap/gap.hpp>

#include <string>

namespace benanza::analysis {

/// Why the engine's run cannot be held against this bound: it is below the model floor, so that it computes something
/// else or was read wrongly, or it was on another device. Empty: it can.
[[nodiscard]] std::string why_outside(const Analysis& analysis, const EngineProfile& profile, const Gap& gap);

/// What matching tells of the profile as a whole: one that is cut off, of another model or unit, or that holds two
/// models takes back the gap, what is said about layers, or what counts as explained.
void settle_claims(Gap& gap, const Analysis& analysis, const EngineProfile& profile, const Timeline& timeline);

}  // namespace benanza::analysis
