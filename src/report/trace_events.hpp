// SPDX-License-Identifier: Apache-2.0
// Parts of trace files that several reports share.
#pragma once

#include "json.hpp"
#include <benanza/bounds/schedule.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

[[nodiscard]] format::Json metadata(const char* what, std::size_t process, std::size_t thread, format::Json arguments);
/// Viewers round to whole nanoseconds; neighbours on a track must not overlap because of that.
[[nodiscard]] double whole_nanoseconds(Seconds time);
/// Names a process and its tracks, `thread 1` and so on.
void add_process(format::Json& events, std::size_t process, const std::string& name, const std::string& label,
                 std::size_t lanes);
/// Adds the events of one process, track by track, each ordered by time.
void add_schedule(format::Json& events, std::size_t process, std::size_t lanes, const Schedule& schedule,
                  const TimedGraph& graph, const Analysis& a);
/// Adds one execution of a witness, on a track of a separate process. Does nothing if there is no witness.
void add_witness_events(format::Json& events, std::size_t process, const std::string& model, const Witness& witness);

}  // namespace benanza::report
