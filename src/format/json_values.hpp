// SPDX-License-Identifier: Apache-2.0
// Values of JSON documents.
#pragma once

#include <benanza/model/units.hpp>

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <optional>

namespace benanza::format {

using Json = nlohmann::ordered_json;

/// JSON has neither NaN nor infinity: an unknown value is null.
[[nodiscard]] Json number(std::optional<double> value);
[[nodiscard]] Json ms(std::optional<Seconds> time);
/// Rounded to an integer.
[[nodiscard]] Json whole(double value);

void write(std::ostream& out, const Json& document);

}  // namespace benanza::format
