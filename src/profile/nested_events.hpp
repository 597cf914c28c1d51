// SPDX-License-Identifier: Apache-2.0
// Nested events: the events of a trace in a few bytes each, nested by time on each thread or stream, and divided into
// passes.
#pragma once

#include "passes.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace benanza::profile {

/// Numbers texts from 0, in the order of their first use.
class Names {
 public:
  struct Found {
    std::uint32_t id;
    bool is_new;
  };
  Found find_or_add(std::string_view text);
  [[nodiscard]] std::size_t size() const { return ids_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;  // only looked up, never iterated
};

inline constexpr std::uint32_t no_event = std::numeric_limits<std::uint32_t>::max();

struct TimedEvent {
  std::int64_t start = 0, end = 0;  ///< ns
  std::uint64_t position = 0;       ///< in the file
  std::uint32_t what = 0, lane = 0;
  std::uint32_t parent = no_event;  ///< index of the event that encloses or launched it
  std::uint32_t pass = no_event;
};

/// Errors in the order of events; messages show the first of them.
struct Misnested {
  std::size_t count = 0;
  std::uint64_t position = 0;
};

/// Sorts by start (enclosing ones first) and sets the parent of each event to the event that encloses it on its lane.
/// An event that begins inside another one but ends after it is not enclosed by that one; such events are counted. Ends
/// may be off by `tolerance` ns, the resolution of the file.
[[nodiscard]] Misnested nest(std::vector<TimedEvent>& events, std::int64_t tolerance);

struct PassSpan {
  std::int64_t start = 0, end = 0;  ///< ns
};

/// Sets the pass of each event (in order of start) that begins within one of the spans (in order, not overlapping).
void assign_passes(std::vector<TimedEvent>& events, std::span<const PassSpan> passes);

/// Turns the events of counted passes (from number `first` on; a pass starts where its span starts) into records
/// without descriptions; the caller sets these.
struct EventRecords {
  std::vector<ProfileRecord> records{};
  std::vector<std::uint32_t> what{};  ///< TimedEvent::what of each record
  std::size_t irregular = 0;          ///< records that some passes lack
};
[[nodiscard]] EventRecords collect(const std::vector<TimedEvent>& events, std::span<const PassSpan> passes,
                                   std::size_t first);

}  // namespace benanza::profile
