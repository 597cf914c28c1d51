// SPDX-License-Identifier: Apache-2.0
// The report of `predict` as JSON, which its page shows.
#pragma once

#include "report/json.hpp"
#include <benanza/report/predict_report.hpp>

namespace benanza::report {

[[nodiscard]] format::Json predict_json(const PredictReport& report);

}  // namespace benanza::report
