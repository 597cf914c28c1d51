// SPDX-License-Identifier: Apache-2.0
// Parts of trace files that several reports share.
#pragma once

#include "json.hpp"
#include <benanza/bounds/schedule.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

[[nodiscard]] Json metadata(const char* what, std::size_t process, std::size_t thread, Json arguments);
/// Viewers round to whole nanoseconds; neighbours on a track must not overlap by that.
[[nodiscard]] double whole_nanoseconds(Seconds time);
/// Names a process and its tracks, `thread 1` and so on.
void add_process(Json& events, std::size_t process, const std::string& name, const std::string& label,
                 std::size_t lanes);
/// Events of one process, track by track, each in the order of time.
void add_schedule(Json& events, std::size_t process, std::size_t lanes, const Schedule& schedule,
                  const TimedGraph& graph, const Analysis& a);
/// One execution of a witness, on a track of a process of its own. Does nothing where there is none.
void add_witness_events(Json& events, std::size_t process, const std::string& model, const Witness& witness);

}  // namespace benanza::report
