// SPDX-License-Identifier: Apache-2.0
#include "json_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>

namespace benanza::format {

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }
Json ms(std::optional<Seconds> time) { return time ? number(time->value * 1e3) : Json(nullptr); }
Json whole(double value) {
  constexpr double most = 0x1p62;  // sums of sizes in a file may be larger than an integer
  return static_cast<std::int64_t>(std::llround(std::clamp(value, -most, most)));
}

void write(std::ostream& out, const Json& document) {
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace benanza::format
