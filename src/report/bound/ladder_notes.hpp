// SPDX-License-Identifier: Apache-2.0
// ladder_notes: what stands below the rungs of a ladder, in tables of a terminal and of Markdown.
#pragma once

#include <benanza/report/report.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// What the rungs assume, how marks and raised rungs are to be read, and of which session the rounds are. Sentences
/// without line breaks.
[[nodiscard]] std::vector<std::string> ladder_notes(const Analysis& a);

}  // namespace benanza::report
