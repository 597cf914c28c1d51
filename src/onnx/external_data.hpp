// SPDX-License-Identifier: Apache-2.0
// external_data: the only reader of where a tensor's numbers are if they are not in its message. What checks a location
// and what opens it therefore see the same one.
#pragma once

#include "tensor_fields.hpp"
#include "wire.hpp"
#include <benanza/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::importer {

/// Bytes of another file.
struct ExternalData {
  std::string location{};  ///< relative to the model's folder, never above it; empty if the message does not say
  std::size_t offset = 0;
  std::optional<std::size_t> length{};
};

/// Empty if the numbers are in the message of the tensor. Throws InputError for a location outside the model's folder,
/// for what is no number of bytes, and for an entry or a key that occurs twice: readers would differ in which they
/// take.
[[nodiscard]] inline std::optional<ExternalData> external_data(std::string_view message, const char* file) {
  const auto byte_count = [](std::string_view text) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size())
      throw InputError("its external data begins or ends at '" + std::string(text) + "', expected a number of bytes");
    return count;
  };
  const auto set_once = [](std::optional<std::string_view>& to, std::string_view value, const std::string& what) {
    if (to) throw InputError("its external data has two of '" + what + "'");
    to = value;
  };
  bool is_external = false;
  std::optional<std::string_view> location, offset, length;
  for (WireReader fields(message, file); auto field = fields.next();) {
    if (field->number == tensor::data_location) is_external |= field->value == 1;
    if (field->number != tensor::external_data) continue;
    is_external = true;
    std::optional<std::string_view> key, value;
    for (WireReader entry(field->bytes, file); auto part = entry.next();) {
      if (part->number == entry::key) set_once(key, part->bytes, "key");
      if (part->number == entry::value) set_once(value, part->bytes, "value");
    }
    for (auto& [name, to] : {std::pair{"location", &location}, {"offset", &offset}, {"length", &length}})
      if (key == name) set_once(*to, value.value_or(""), name);
  }
  if (!is_external) return std::nullopt;
  ExternalData result{.location = std::string(location.value_or(""))};
  std::string path = result.location;
  std::replace(path.begin(), path.end(), '\\', '/');
  const std::filesystem::path parts(path);
  const bool drive = path.size() > 1 && path[1] == ':';
  if (drive || parts.is_absolute() || path.find('\0') != std::string::npos ||
      std::find(parts.begin(), parts.end(), "..") != parts.end())
    throw InputError("external data at '" + result.location + "', expected a path inside the model's folder");
  if (offset) result.offset = byte_count(*offset);
  if (length) result.length = byte_count(*length);
  return result;
}

}  // namespace benanza::importer
