// SPDX-License-Identifier: Apache-2.0
#include "small_json.hpp"

#include <benanza/error.hpp>

namespace benanza::profile {

nlohmann::json read_json(Source& source) {
  constexpr std::size_t most = std::size_t{1} << 28;
  std::string text;
  for (std::string_view chunk = source.next(); !chunk.empty(); chunk = source.next()) {
    if (text.size() + chunk.size() > most)
      source.fail(text.size(), "more than 256 MiB of JSON in a format whose files are small");
    text += chunk;
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    source.fail(error.byte, error.byte >= text.size() ? "the file ends in the middle of the JSON: it was cut off"
                                                      : std::string("no JSON: ") + error.what());
  } catch (const nlohmann::json::exception& error) {  // a number beyond the range of a double
    throw InputError(source.path().string() + ": JSON that cannot be read: " + error.what());
  }
}

double number_at(const Source& source, const nlohmann::json& object, const char* key, const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number())
    throw InputError(source.path().string() + ": " + where + ": no number '" + key + "'");
  return found->get<double>();
}

double time_at(const Source& source, const nlohmann::json& object, const char* key, const std::string& where) {
  const double value = number_at(source, object, key, where);
  if (!(value >= 0))
    throw InputError(source.path().string() + ": " + where + ": '" + key + "' is " + std::to_string(value) +
                     ", expected a time that is not negative");
  return value;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace benanza::profile
