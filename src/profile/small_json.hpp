// SPDX-License-Identifier: Apache-2.0
// Reads a JSON file of ordinary size as a whole, and its fields with errors that say where they are.
#pragma once

#include "source.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace benanza::profile {

/// Throws InputError if it is not JSON, with the byte offset, and also for a number that is out of range.
[[nodiscard]] nlohmann::json read_json(Source& source);

/// The number under `key`. Throws InputError if there is none; `where` names the object in the message: `element 3`.
[[nodiscard]] double number_at(const Source& source, const nlohmann::json& object, const char* key,
                               const std::string& where);
/// The same for a time, which must not be negative.
[[nodiscard]] double time_at(const Source& source, const nlohmann::json& object, const char* key,
                             const std::string& where);
/// The text under `key`; empty if there is none.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace benanza::profile
