// SPDX-License-Identifier: Apache-2.0
// The data of a study, for its JSON and its page.
#pragma once

#include "report/json.hpp"
#include <benanza/study/study.hpp>

namespace benanza::report {

[[nodiscard]] format::Json study_json(const Study& study);

}  // namespace benanza::report
