// SPDX-License-Identifier: Apache-2.0
// What the JSON of `memory` and its page have in common.
#pragma once

#include "report/json.hpp"
#include <benanza/report/memory_report.hpp>

namespace benanza::report {

[[nodiscard]] format::Json memory_json(const MemoryReport& report);

}  // namespace benanza::report
