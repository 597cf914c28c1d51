// SPDX-License-Identifier: Apache-2.0
// RecordSection: an object of a machine file and its path, so that every error message names the place.
#pragma once

#include <benanza/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
  /// A rate, a size or a time; none of one machine is beyond these bounds.
  [[nodiscard]] double positive() const {
    constexpr double least = 1e-18, most = 1e18;
    const double value = json.is_number() ? json.get<double>() : 0;
    if (!std::isfinite(value) || value <= 0) fail("found " + shown() + ", expected a positive number");
    if (value < least || value > most) fail("found " + shown() + ", expected a number from 1e-18 to 1e18");
    return value;
  }
  [[nodiscard]] std::int64_t positive_whole() const {
    const double value = positive();
    if (value != std::floor(value) || value > 1e15) fail("found " + shown() + ", expected a whole number");
    return static_cast<std::int64_t>(value);
  }
  [[nodiscard]] std::string text() const {
    if (!json.is_string() || json.get<std::string>().empty()) fail("found " + shown() + ", expected a text");
    return json.get<std::string>();
  }

 private:
  [[nodiscard]] std::string shown() const {
    constexpr std::size_t longest = 80;
    const std::string text = json.dump(-1, ' ', true);
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
  }
};

}  // namespace benanza
