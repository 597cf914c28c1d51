// SPDX-License-Identifier: Apache-2.0
// The commands in a gap's advice, which work as typed in the same folder.
#pragma once

#include "options.hpp"
#include <benanza/gap/gap.hpp>

namespace benanza::tool {

/// The commands for a parsed `gap`, each with those of its options that the command has. `threads`: the thread count of
/// the bounds, 0 for the default; `device`: whether the stored results are of a GPU.
[[nodiscard]] Commands commands_of(const CLI::App& gap, const MeasuringOptions& measuring, int threads, bool device);

}  // namespace benanza::tool
