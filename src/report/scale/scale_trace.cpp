// SPDX-License-Identifier: Apache-2.0
// Iterations on several workers in the trace-event format: for each model and bandwidth, a process with one track for
// computation and one for the network. Time 0 is the beginning of backward.
#include "format/numbers.hpp"
#include "report/trace_events.hpp"
#include <benanza/report/scale_report.hpp>
#include <benanza/version.hpp>

#include <fmt/format.h>

#include <ostream>

namespace benanza {

using namespace format;

namespace {

using namespace report;

Json event(const std::string& name, std::string_view category, std::size_t process, std::size_t track, Seconds start,
           Seconds end, Json arguments) {
  const double from = whole_nanoseconds(start), to = whole_nanoseconds(end);
  return {{"name", name},
          {"cat", category},
          {"ph", "X"},
          {"pid", process},
          {"tid", track},
          {"ts", from / 1e3},
          {"dur", (to - from) / 1e3},
          {"args", std::move(arguments)}};
}

void add_iteration(Json& events, std::size_t process, const Scaling& scaling, const ScalingDetail& detail) {
  const IterationTimeline& timeline = detail.timeline;
  add_process(events, process,
              fmt::format("{}: {} workers, {}", scaling.iteration.model, scaling.options.workers,
                          scaling.options.measured ? "as measured by " + scaling.options.measured->backend
                                                   : fmt::format("{:.4g} Gbit/s", in_gigabits(detail.bandwidth))),
              fmt::format("iteration {}, {} exposed", time_text(timeline.length), time_text(timeline.exposed)), 0);
  events.push_back(metadata("thread_name", process, 1, {{"name", "computation"}}));
  events.push_back(metadata("thread_name", process, 2, {{"name", "network"}}));
  for (const auto& step : timeline.computed)
    events.push_back(event(step.name, enum_names(step.phase)[static_cast<std::size_t>(step.phase)], process, 1,
                           step.start, step.end(), Json::object()));
  for (const auto& sent : timeline.sent) {
    const std::size_t count = sent.bucket.last - sent.bucket.first + 1;
    const std::string& name = scaling.iteration.gradients[sent.bucket.first].name;
    events.push_back(event(count == 1 ? name : fmt::format("{} and {} more", name, count - 1), "AllReduce", process, 2,
                           sent.start, sent.end(),
                           {{"bytes", whole(sent.bucket.bytes.value)},
                            {"gradients", count},
                            {"ready_ms", ms(sent.ready)},
                            {"exposed_ms", ms(sent.exposed)}}));
  }
}

}  // namespace

void write_trace(std::ostream& out, const ScaleReport& report) {
  Json events = Json::array();
  std::size_t process = 0;
  for (const auto& scaling : report.models)
    for (const auto& detail : scaling.details) add_iteration(events, ++process, scaling, detail);
  const Json document{{"displayTimeUnit", "ms"},
                      {"otherData",
                       {{"tool", fmt::format("Benanza {}", version)},
                        {"timeline", "from the begin of backward to the end of the next forward, on each worker"}}},
                      {"traceEvents", events}};
  out << document.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace benanza
