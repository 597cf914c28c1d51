// SPDX-License-Identifier: Apache-2.0
// some_value: the value of a field or an element that simdjson has found on demand.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace benanza::results {

/// Throws simdjson_error if what stands there begins no value, as in `[:1]` or `{"a":,}`: whoever skips it would lose
/// the place in the text, and read beyond its end.
[[nodiscard]] inline simdjson::ondemand::value some_value(simdjson::simdjson_result<simdjson::ondemand::value> found) {
  simdjson::ondemand::value value = found.value();
  const std::string_view token = value.raw_json_token();
  if (token.empty() || std::string_view(":,]}").find(token.front()) != std::string_view::npos)
    throw simdjson::simdjson_error(simdjson::TAPE_ERROR);
  return value;
}

}  // namespace benanza::results
