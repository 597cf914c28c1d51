// SPDX-License-Identifier: Apache-2.0
#include "trace_events.hpp"

#include "format/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace benanza::report {

using namespace format;

Json metadata(const char* what, std::size_t process, std::size_t thread, Json arguments) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"ts", 0}, {"args", std::move(arguments)}};
}

double whole_nanoseconds(Seconds time) { return std::round(time.value * 1e9); }

void add_schedule(Json& events, std::size_t process, std::size_t lanes, const Schedule& schedule,
                  const TimedGraph& graph, const Analysis& a) {
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (const auto& call : schedule.calls) {
      if (std::find(call.lanes.begin(), call.lanes.end(), lane) == call.lanes.end()) continue;
      const TimedLayer& layer = graph.layers[call.layer];
      const LayerRow& row = a.rows[layer.calls[call.call].row];
      const double start = whole_nanoseconds(call.start), end = whole_nanoseconds(call.start + call.time);
      Json arguments{{"layer", describe(parse_layer(row.signature))},
                     {"signature", row.signature},
                     {"status", enum_names(row.status)[static_cast<std::size_t>(row.status)]},
                     {"critical", layer.critical},
                     {"threads", call.lanes.size()}};
      if (layer.repeat > 1) arguments["passes"] = layer.repeat;
      Json event{{"name", layer.name},
                 {"cat", kind(parse_layer(row.signature))},
                 {"ph", "X"},
                 {"pid", process},
                 {"tid", lane + 1},
                 {"ts", start / 1e3},
                 {"dur", (end - start) / 1e3},
                 {"args", std::move(arguments)}};
      if (layer.critical) event["cname"] = "terrible";  // the viewer's name for red
      events.push_back(std::move(event));
    }
}

void add_witness_events(Json& events, std::size_t process, const std::string& model, const Witness& witness) {
  if (!witness.given()) return;
  add_process(events, process, model + ": witness, one execution",
              fmt::format("p10 {}, median {}", time_text(witness.p10), time_text(witness.median)), 1);
  Seconds at{};
  for (const auto& call : witness.calls) {
    const double start = whole_nanoseconds(at), end = whole_nanoseconds(at + call.once);
    Json arguments{{"plan", call.plan}, {"nodes", call.nodes}};
    if (call.alone.value > 0) arguments["alone_ms"] = ms(call.alone);
    if (!call.layer.empty()) arguments.update({{"layer", call.layer}, {"layout_plan", call.layout_plan}});
    events.push_back({{"name", call.nodes.front()},
                      {"cat", call.plan == "layout" ? "layout" : "call"},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", 1},
                      {"ts", start / 1e3},
                      {"dur", (end - start) / 1e3},
                      {"args", std::move(arguments)}});
    at += call.once;
  }
}

void add_process(Json& events, std::size_t process, const std::string& name, const std::string& label,
                 std::size_t lanes) {
  events.push_back(metadata("process_name", process, 0, {{"name", name}}));
  events.push_back(metadata("process_labels", process, 0, {{"labels", label}}));
  events.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
  for (std::size_t lane = 0; lane < lanes; ++lane)
    events.push_back(metadata("thread_name", process, lane + 1, {{"name", fmt::format("thread {}", lane + 1)}}));
}

}  // namespace benanza::report
