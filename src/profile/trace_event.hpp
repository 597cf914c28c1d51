// SPDX-License-Identifier: Apache-2.0
// TraceEvent: one event of Chrome's trace format (Trace Event Format, "Complete Events"), which both ONNX Runtime and
// PyTorch write.
#pragma once

#include "results/json_value.hpp"
#include "source.hpp"

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::profile {

namespace json = simdjson::ondemand;

/// Converts the text of a number from microseconds to nanoseconds, exactly; empty if it is not a number.
[[nodiscard]] std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text);

/// The trimmed text of a scalar, exactly as in the file.
[[nodiscard]] std::string_view token(json::value& value);

/// An integer, or the hash of a string: thread ids come in both forms.
[[nodiscard]] std::int64_t id_of(json::value& value);

struct TraceEvent {
  std::string_view name{}, category{};
  char phase = 'X';
  std::int64_t lane = 0;  ///< thread
  std::optional<std::int64_t> process{};
  std::int64_t start_ns = 0, duration_ns = 0;

  /// Throws Unreadable for a complete event with no time or a negative one.
  void check() const;
  /// The same for a whole pass, whose duration is never 0.
  void check_pass() const;
  bool has_start = false, has_duration = false;
};

/// The text of a value. One that is no JSON string, such as a Windows path whose backslashes are not doubled, stays as
/// it is in the file.
[[nodiscard]] std::string_view text_of(json::value& value);

/// Parses one event; `argument(key, value)` gets each member of its `args`. Views are valid until the parser's next
/// use.
template <class Argument>
TraceEvent read_event(json::parser& parser, std::string_view text, std::size_t padding, Argument&& argument) {
  json::document document = parser.iterate(text.data(), text.size(), text.size() + padding);
  TraceEvent event;
  const auto time = [](json::value& value, std::int64_t& to, bool& known) {
    std::string_view text = token(value);
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    const auto found = nanoseconds_of_microseconds(text);
    if (found) to = *found;
    known = found.has_value();
  };
  for (auto field : document.get_object()) {
    const std::string_view key = field.unescaped_key();
    json::value value = results::some_value(field.value());
    if (key == "name") event.name = text_of(value);
    else if (key == "cat") event.category = value;
    else if (key == "ph") event.phase = std::string_view(value).substr(0, 1).empty() ? ' ' : std::string_view(value)[0];
    else if (key == "tid") event.lane = id_of(value);
    else if (key == "pid") event.process = id_of(value);
    else if (key == "ts") time(value, event.start_ns, event.has_start);
    else if (key == "dur") time(value, event.duration_ns, event.has_duration);
    else if (key == "args" && value.type() == json::json_type::object) {
      for (auto member : value.get_object()) {
        const std::string_view name = member.unescaped_key();
        json::value inner = results::some_value(member.value());
        argument(name, inner);
      }
    }
  }
  return event;
}

/// Calls `read`, and counts the event as one that cannot be read if it throws Unreadable or an exception of the JSON
/// library.
template <class Read>
void at_event(Source& source, std::uint64_t position, Read&& read) {
  try {
    read();
  } catch (const Unreadable& error) {
    source.leave_out(position, error.what());
  } catch (const simdjson::simdjson_error& error) {
    source.leave_out(position, std::string("an event that cannot be read: ") + error.what());
  }
}

}  // namespace benanza::profile
