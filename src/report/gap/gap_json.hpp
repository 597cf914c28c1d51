// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json.hpp"
#include <benanza/report/gap_report.hpp>

namespace benanza::report {

/// Everything that is known about a gap; the page and the JSON report contain the same.
[[nodiscard]] format::Json gap_json(const GapReport& report);

}  // namespace benanza::report
