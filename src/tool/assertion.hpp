// SPDX-License-Identifier: Apache-2.0
// Assertion: `--assert-latency RUNG=12ms`.
#pragma once

#include <benanza/bounds/analysis.hpp>

#include <string>
#include <vector>

namespace benanza::tool {

struct Assertion {
  RungName rung{};
  Seconds limit{};
};

/// Throws UsageError that lists the rungs.
[[nodiscard]] Assertion parse_assertion(const std::string& text);
/// Whether every rung asserted is known, whole and at most its limit in every model; says on stderr which is not.
[[nodiscard]] bool hold(const std::vector<Assertion>& assertions, const std::vector<Analysis>& models);

}  // namespace benanza::tool
