// SPDX-License-Identifier: Apache-2.0
// The report of `scale` as JSON, which its page shows.
#pragma once

#include "report/json.hpp"
#include <benanza/report/scale_report.hpp>

namespace benanza::report {

[[nodiscard]] format::Json scale_json(const ScaleReport& report);

}  // namespace benanza::report
