// SPDX-License-Identifier: Apache-2.0
// advise: which changes would buy how much of a gap back.
#pragma once

#include <benanza/gap/gap.hpp>

#include <vector>

namespace benanza::analysis {

/// From the parts of a gap and what else was found about it, by predicted gain. Gains of several are no sum: two may
/// concern the same time.
[[nodiscard]] std::vector<Advice> advise(const Analysis& analysis, const EngineProfile& profile, const Gap& gap,
                                         const Commands& commands);

}  // namespace benanza::analysis
