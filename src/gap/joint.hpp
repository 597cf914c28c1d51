// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benanza/gap/gap.hpp>

#include <optional>
#include <vector>

namespace benanza::gap {

/// What the answers of a gap give together, from its parts, its rungs and its types; `others` are the analyses of those
/// types. Nothing where no gap or no fused bound is given.
[[nodiscard]] std::optional<JointGain> joint_gain(const Analysis& analysis, const std::vector<Analysis>& others,
                                                  const Gap& gap);

}  // namespace benanza::gap
