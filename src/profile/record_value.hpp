// SPDX-License-Identifier: Apache-2.0
// What all readers of profiles demand of the time and of the text of a record.
#pragma once

#include "source.hpp"
#include <benanza/model/units.hpp>

#include <string>
#include <string_view>

namespace benanza::profile {

/// The time of a record. Throws Unreadable unless it is 0 or a time that can be (base/detail/limits.hpp); `what` is the
/// field as it is in the file: `time '1e300'`.
[[nodiscard]] Seconds record_time(double value, Seconds unit, const std::string& what);
/// The same from the text of a number, without blanks around it.
[[nodiscard]] Seconds record_time(std::string_view number, Seconds unit, const std::string& what);

/// The time of a whole pass, which is never 0. Throws Unreadable; `what` names the record.
[[nodiscard]] Seconds pass_time(Seconds time, const std::string& what);

/// Throws Unreadable for a line that is not UTF-8 or has a control character, as JSON does. A tab is none here.
void check_text(std::string_view line);

}  // namespace benanza::profile
