// SPDX-License-Identifier: Apache-2.0
// The commands that a gap's advice names: they work as typed, in the same folder.
#pragma once

#include "options.hpp"
#include <benanza/gap/gap.hpp>

namespace benanza::tool {

/// The commands for a parsed `gap`, with those of its options that each command has. `threads`: the thread count of the
/// bounds, 0 for the default; `device`: the stored results are of a GPU.
[[nodiscard]] Commands commands_of(const CLI::App& gap, const MeasuringOptions& measuring, int threads, bool device);

}  // namespace benanza::tool
