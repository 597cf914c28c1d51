// SPDX-License-Identifier: Apache-2.0
// The data of a study, for its JSON and its page.
#pragma once

#include "json.hpp"
#include <benanza/study/study.hpp>

namespace benanza::report {

[[nodiscard]] Json study_json(const Study& study);

}  // namespace benanza::report
