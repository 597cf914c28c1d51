// SPDX-License-Identifier: Apache-2.0
// Engine and bound side by side in the trace-event format: the engine's records on their lanes, and below them the
// bound's fused calls in the same order, and its parallel schedule.
#include "drawn_run.hpp"
#include "report/trace_events.hpp"
#include <benanza/bounds/make_schedule.hpp>
#include <benanza/report/gap_report.hpp>
#include <benanza/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

namespace benanza {

using namespace format;

namespace {

using namespace report;

void add_engine(Json& events, std::size_t process, const GapReport& report, const DrawnRun& drawn) {
  std::map<std::int64_t, std::size_t> lanes;
  for (const auto& record : report.profile.records) lanes.try_emplace(record.lane, 0);
  std::size_t next = 0;
  for (auto& [lane, track] : lanes) track = ++next;
  add_process(events, process, report.gap.model + ": " + (report.gap.engine.empty() ? "engine" : report.gap.engine),
              report.gap.format, 0);
  for (const auto& [lane, track] : lanes)
    events.push_back(metadata("thread_name", process, track, {{"name", fmt::format("lane {}", lane)}}));
  for (std::size_t i = 0; i < report.gap.records.size(); ++i) {
    const MatchedRecord& record = report.gap.records[i];
    const ProfileRecord& said = report.profile.records[record.record];
    const auto& span = drawn.spans[i];
    if (!span) continue;
    const double from = whole_nanoseconds(span->start), to = whole_nanoseconds(span->start + span->time);
    Json arguments{{"matched_by", enum_names(record.by)[static_cast<std::size_t>(record.by)]},
                   {"cause", enum_names(record.cause)[static_cast<std::size_t>(record.cause)]}};
    if (!said.algorithm.empty()) arguments["algorithm"] = said.algorithm;
    if (record.group) {
      const GapGroup& group = report.gap.groups[*record.group];
      arguments["group"] = group.name;
      arguments["pattern"] = group.pattern;
      arguments["bound_ms"] = ms(group.bound);
    }
    events.push_back({{"name", said.name},
                      {"cat", said.op.empty() ? "record" : said.op},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", lanes.at(said.lane)},
                      {"ts", from / 1e3},
                      {"dur", (to - from) / 1e3},
                      {"args", std::move(arguments)}});
  }
}

}  // namespace

void write_trace(std::ostream& out, const GapReport& report) {
  const Analysis& a = report.bound.models.front();
  Json events = Json::array();
  const DrawnRun drawn = drawn_run(report);
  add_engine(events, 1, report, drawn);
  const auto graph =
      std::find_if(a.graphs.begin(), a.graphs.end(), [](const auto& g) { return g.form == Form::fused; });
  if (graph != a.graphs.end()) {
    const auto lanes = static_cast<std::size_t>(a.threads);
    add_process(events, 2, a.model + ": library_fused, one after the other", "bound", 1);
    add_schedule(events, 2, 1, sequential_schedule(*graph), *graph, a);
    add_process(events, 3, a.model + ": library_fused_parallel, a list schedule", "bound", lanes);
    add_schedule(events, 3, lanes, parallel_schedule(*graph, a.threads), *graph, a);
    if (!report.bound.witnesses.empty()) add_witness_events(events, 4, a.model, report.bound.witnesses.front());
  }
  const Json document{{"displayTimeUnit", "ms"},
                      {"otherData",
                       {{"tool", fmt::format("Benanza {}", version)},
                        {"engine", report.gap.engine},
                        {"latency_ms", ms(report.gap.latency)},
                        {"drawn", drawn.what},
                        {"rung", enum_names(report.gap.rung)[static_cast<std::size_t>(report.gap.rung)]},
                        {"bound_ms", ms(report.gap.bound)}}},
                      {"traceEvents", events}};
  out << document.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace benanza
