// SPDX-License-Identifier: Apache-2.0
#include "small_json.hpp"

#include "record_value.hpp"
#include <benanza/error.hpp>
#include <benanza/results/whole_file.hpp>

namespace benanza::profile {

nlohmann::json parse_record(std::string_view text) {
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception& error) {
    throw Unreadable(std::string("JSON that cannot be read: ") + error.what());
  }
}

nlohmann::json read_json(Source& source) {
  const std::string text = read_settings(source.path(), 16);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    source.fail(error.byte, error.byte >= text.size() ? "the file ends in the middle of the JSON: it was cut off"
                                                      : std::string("no JSON: ") + error.what());
  } catch (const nlohmann::json::exception& error) {  // a number beyond the range of a double
    throw InputError(source.path().string() + ": JSON that cannot be read: " + error.what());
  }
}

double number_at(const nlohmann::json& object, const char* key, const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number())
    throw Unreadable(where + ": no number '" + key + "'");
  return found->get<double>();
}

Seconds time_at(const nlohmann::json& object, const char* key, Seconds unit, const std::string& where) {
  const double value = number_at(object, key, where);
  return record_time(value, unit, where + ": '" + key + "' is " + object[key].dump());
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace benanza::profile
