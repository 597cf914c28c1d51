// SPDX-License-Identifier: Apache-2.0
// advise: which changes would reduce a gap, and by how much.
#pragma once

#include "record_times.hpp"
#include <benanza/gap/gap.hpp>

#include <vector>

namespace benanza::gap {

/// Advice from the parts of a gap and the other findings about it, by predicted gain; first what makes all layers
/// slower alike, since the rest is uncertain until that is mended. Gains do not add up, since two
/// may concern the same time.
[[nodiscard]] std::vector<Advice> advise(const Analysis& analysis, const EngineProfile& profile, const Gap& gap,
                                         const RecordTimes& times, const Commands& commands);

}  // namespace benanza::gap
