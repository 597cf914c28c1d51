// SPDX-License-Identifier: Apache-2.0
#include "record_value.hpp"

#include <benanza/base/detail/limits.hpp>

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace benanza::profile {

Seconds record_time(double value, Seconds unit, const std::string& what) {
  const Seconds time = unit * value;
  if (time != Seconds{} && !detail::is_possible(time))
    throw Unreadable(what + ", expected 0 or a time from " + std::string(detail::time_range));
  return time;
}

Seconds record_time(std::string_view number, Seconds unit, const std::string& what) {
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, value);
  if (number.empty() || read.ec != std::errc{} || read.ptr != end) value = std::numeric_limits<double>::quiet_NaN();
  return record_time(value, unit, what);
}

Seconds pass_time(Seconds time, const std::string& what) {
  if (time == Seconds{}) throw Unreadable(what + " takes a time of 0, expected a positive one");
  return time;
}

void check_text(std::string_view line) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  if (std::any_of(line.begin(), line.end(), is_control)) throw Unreadable("a line with a control character");
  if (!simdjson::validate_utf8(line.data(), line.size())) throw Unreadable("a line that is not UTF-8");
}

}  // namespace benanza::profile
