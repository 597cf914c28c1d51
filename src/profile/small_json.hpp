// SPDX-License-Identifier: Apache-2.0
// Reads the elements of a JSON file, or a small one as a whole, and their fields with errors that say where they are.
#pragma once

#include "source.hpp"
#include <benanza/model/units.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace benanza::profile {

/// JSON of one record. Throws Unreadable.
[[nodiscard]] nlohmann::json parse_record(std::string_view text);

/// A small file as a whole. Throws InputError if it is not JSON, with the byte offset.
[[nodiscard]] nlohmann::json read_json(Source& source);

/// Calls `event(json, position, index)` with each element of the array, or of the array under `key` of an object, and
/// `member(name, json)` with the other members. `longest`: the most bytes of an element. Elements that are no JSON, or
/// for which `event` throws Unreadable, are left out. `may_be_cut`: an object that ends after a whole element is read,
/// with a warning.
template <class Event, class Member>
void for_each_json(Source& source, std::string_view key, std::size_t longest, Event&& event, Member&& member,
                   bool may_be_cut = false) {
  EventStream stream(source, key, longest);
  if (may_be_cut) stream.accept_cut_object();
  std::size_t count = 0;
  for (auto item = stream.next(); item != EventStream::Item::end; item = stream.next()) {
    const std::size_t index = item == EventStream::Item::event ? count++ : 0;
    try {
      const nlohmann::json json = parse_record(stream.text());
      if (item == EventStream::Item::event) event(json, stream.position(), index);
      else member(stream.name(), json);
    } catch (const Unreadable& error) {
      source.leave_out(stream.position(), error.what());
    }
  }
}
template <class Event>
void for_each_json(Source& source, std::string_view key, std::size_t longest, Event&& event) {
  for_each_json(source, key, longest, std::forward<Event>(event), [](std::string_view, const nlohmann::json&) {});
}

/// The most bytes of a record in a format whose records are small: a tree in memory takes many times as much.
inline constexpr std::size_t longest_record = std::size_t{1} << 22;

/// The number under `key`. Throws Unreadable if there is none; `where` names the object in the message: `element 3`.
[[nodiscard]] double number_at(const nlohmann::json& object, const char* key, const std::string& where);
/// The same for a time. Throws Unreadable as `record_time` does, too.
[[nodiscard]] Seconds time_at(const nlohmann::json& object, const char* key, Seconds unit, const std::string& where);
/// The text under `key`; empty if there is none.
[[nodiscard]] std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace benanza::profile
