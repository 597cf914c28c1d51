// SPDX-License-Identifier: Apache-2.0
// A JSON file of ordinary size as a whole, and its fields with errors that say where they are.
#pragma once

#include "source.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace benanza::profile {

/// Throws InputError, with the byte if it is not JSON, also for a number that is out of range.
[[nodiscard]] nlohmann::json read_json(Source& source);

/// The number of `key`. Throws InputError where there is none; `where` says of what: `element 3`.
[[nodiscard]] double number_at(const Source& source, const nlohmann::json& object, const char* key,
                               const std::string& where);
/// The same for a time, which is never negative.
[[nodiscard]] double time_at(const Source& source, const nlohmann::json& object, const char* key,
                             const std::string& where);
/// Its text; empty where there is none.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace benanza::profile
