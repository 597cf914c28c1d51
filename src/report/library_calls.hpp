// SPDX-License-Identifier: Apache-2.0
// What a gap's table says of vendor libraries: their parts of the time, and what runs between their calls.
#pragma once

#include <benanza/gap/gap.hpp>

#include <cstddef>
#include <iosfwd>

namespace benanza::report {

/// One paragraph; nothing where no record is known to be a library's.
void write_time_by_library(std::ostream& out, const Gap& gap, std::size_t width);
/// A line for each call or kernel between the same two functions, with its call chain; nothing where library calls were
/// not traced.
void write_between_library_calls(std::ostream& out, const EngineProfile& profile, std::size_t width);

}  // namespace benanza::report
