// SPDX-License-Identifier: Apache-2.0
// The part of a gap's table about vendor libraries: their shares of the time, and what runs between their calls.
#pragma once

#include <benanza/gap/gap.hpp>

#include <cstddef>
#include <iosfwd>

namespace benanza::report {

/// Writes one paragraph; nothing if no record is known to belong to a library.
void write_time_by_library(std::ostream& out, const Gap& gap, std::size_t width);
/// Writes one line per call or kernel between the same two functions, with its call chain; nothing if library calls
/// were not traced.
void write_between_library_calls(std::ostream& out, const EngineProfile& profile, std::size_t width);

}  // namespace benanza::report
