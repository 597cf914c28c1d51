// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/gap/gap.hpp>

#include <optional>
#include <vector>

namespace benanza::gap {

/// The combined gain of the answers about a gap, from its parts, its rungs and its types; `others` are the analyses of
/// those types. Empty if there is no gap or no fused bound.
[[nodiscard]] std::optional<JointGain> joint_gain(const Analysis& analysis, const std::vector<Analysis>& others,
                                                  const Gap& gap);

}  // namespace benanza::gap
