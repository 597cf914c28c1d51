// SPDX-License-Identifier: Apache-2.0
// RecordSection: an object of a machine file and its path, so that every error message names the place.
#pragma once

#include <benanza/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

namespace benanza {

struct RecordSection {
  const nlohmann::ordered_json& json;
  std::string where{};

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError((where.empty() ? "" : where + ": ") + what);
  }

  [[nodiscard]] bool has(const std::string& key) const { return json.contains(key); }
  [[nodiscard]] RecordSection operator[](const std::string& key) const {
    if (!json.contains(key)) fail("no '" + key + "'");
    return {json.at(key), where.empty() ? key : where + "." + key};
  }
  /// Throws unless it is an object without keys other than these.
  void expect(std::initializer_list<std::string_view> keys) const {
    object();
    for (const auto& [key, value] : json.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) fail("unknown key '" + key + "'");
  }
  void object() const {
    if (!json.is_object()) fail("found " + std::string(json.type_name()) + ", expected an object");
  }
  [[nodiscard]] double positive() const {
    const double value = json.is_number() ? json.get<double>() : 0;
    if (!std::isfinite(value) || value <= 0) fail("found " + json.dump() + ", expected a positive number");
    return value;
  }
  [[nodiscard]] std::int64_t positive_whole() const {
    const double value = positive();
    if (value != std::floor(value) || value > 1e15) fail("found " + json.dump() + ", expected a whole number");
    return static_cast<std::int64_t>(value);
  }
  [[nodiscard]] std::string text() const {
    if (!json.is_string() || json.get<std::string>().empty()) fail("found " + json.dump() + ", expected a text");
    return json.get<std::string>();
  }
};

}  // namespace benanza
