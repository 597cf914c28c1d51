// SPDX-License-Identifier: Apache-2.0
// assumptions: what must hold before a bound can explain a profile: the same device, the same model, one run.
#pragma once

#include "timeline.hpp"
#include <benanza/gap/gap.hpp>

#include <string>

namespace benanza::gap {

/// Why the engine's run cannot be compared with this bound: it is below the model floor, so that it computes something
/// else or was read wrongly, or it was on another device. Empty: it can.
[[nodiscard]] std::string why_outside(const Analysis& analysis, const EngineProfile& profile, const Gap& gap);

/// What matching tells about the profile as a whole. If it is cut off, of another model or unit, or holds two models,
/// the gap, the claims about layers, or what counts as explained are withdrawn.
void settle_claims(Gap& gap, const Analysis& analysis, const EngineProfile& profile, const Timeline& timeline);

}  // namespace benanza::gap
