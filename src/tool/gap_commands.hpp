// SPDX-License-Identifier: Apache-2.0
// The commands that a gap's advice names: they work as typed, in the same folder.
#pragma once

#include "options.hpp"
#include <benanza/gap/gap.hpp>

namespace benanza::tool {

/// Of a parsed `gap`: with its own options, as far as each command has them. `threads`: that the bounds were taken
/// for, 0 for the default; `device`: stored results are of a GPU.
[[nodiscard]] Commands commands_of(const CLI::App& gap, const MeasuringOptions& measuring, int threads, bool device);

}  // namespace benanza::tool
