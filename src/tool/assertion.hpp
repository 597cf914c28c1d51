// SPDX-License-Identifier: Apache-2.0
// Assertion: `--assert-latency 12ms`, `--assert-latency RUNG=12ms`.
#pragma once

#include <benanza/bounds/analysis.hpp>

#include <optional>
#include <string>
#include <vector>

namespace benanza::tool {

struct Assertion {
  std::optional<RungName> rung{};  ///< empty: the headline
  Seconds limit{};
};

/// Throws UsageError, for an unknown rung with a list of the rungs.
[[nodiscard]] Assertion parse_assertion(const std::string& text);
/// Whether every asserted rung is known, complete, not provisional unless `take_provisional` is set, and at most its
/// limit in every model; reports on stderr which is not.
[[nodiscard]] bool hold(const std::vector<Assertion>& assertions, const std::vector<Analysis>& models,
                        bool take_provisional);

}  // namespace benanza::tool
