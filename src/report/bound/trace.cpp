// SPDX-License-Identifier: Apache-2.0
// Schedules in the trace-event format (Chrome's chrome://tracing, ui.perfetto.dev). For each model, one process has the
// fused layers one after the other, and one has them on as many threads as the bound may use, with one track per
// thread. Times are the medians to expect; a call that occupies several threads is an event on each of their tracks.
#include "format/numbers.hpp"
#include "report/trace_events.hpp"
#include <benanza/bounds/make_schedule.hpp>
#include <benanza/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace benanza {

using namespace format;

namespace {

using namespace report;

std::string bound_text(const Rung& rung) {
  if (!rung.bound) return "unknown";
  return time_text(*rung.bound) + (rung.median ? ", median " + time_text(*rung.median) : "");
}

}  // namespace

void write_trace(std::ostream& out, const BoundReport& report) {
  Json events = Json::array(), models = Json::array();
  std::size_t process = 0;
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const Analysis& a = report.models[i];
    const auto graph =
        std::find_if(a.graphs.begin(), a.graphs.end(), [](const auto& g) { return g.form == Form::fused; });
    if (graph == a.graphs.end()) continue;
    const Schedule sequential = sequential_schedule(*graph), parallel = parallel_schedule(*graph, a.threads);
    const auto lanes = static_cast<std::size_t>(a.threads);
    const bool measured = a[RungName::library_fused].bound.has_value();
    const Rung &one = a[measured ? RungName::library_fused : RungName::roofline],
               &many = a[measured ? RungName::library_fused_parallel : RungName::roofline_parallel];
    const std::string name = measured ? "library_fused" : "roofline";
    add_process(events, ++process, a.model + ": " + name + ", one after the other",
                fmt::format("bound {}; these calls {}", bound_text(one), time_text(sequential.length)), 1);
    add_schedule(events, process, 1, sequential, *graph, a);
    add_process(events, ++process, a.model + ": " + name + "_parallel, a list schedule",
                fmt::format("bound {}; this schedule {}", bound_text(many), time_text(parallel.length)), lanes);
    add_schedule(events, process, lanes, parallel, *graph, a);
    if (i < report.witnesses.size()) add_witness_events(events, ++process, a.model, report.witnesses[i]);
    models.push_back({{"model", a.model},
                      {"threads", a.threads},
                      {name + "_ms", ms(one.bound)},
                      {name + "_median_ms", ms(one.median)},
                      {"sequential_ms", ms(sequential.length)},
                      {name + "_parallel_ms", ms(many.bound)},
                      {name + "_parallel_median_ms", ms(many.median)},
                      {"parallel_ms", ms(parallel.length)},
                      {"parallel_plans", enum_names(parallel.choice)[static_cast<std::size_t>(parallel.choice)]}});
  }
  const Json document{
      {"displayTimeUnit", "ms"},
      {"otherData",
       {{"tool", fmt::format("Benanza {}", version)},
        {"sequential", "the fused layers one after the other at their median times, each by its fastest plan"},
        {"parallel",
         "a list schedule on the threads that the bound may use, at median times: one way to run the model. The bound "
         "is "
         "max(critical path, least work / threads), which no schedule of these calls beats; the schedule's length "
         "shows "
         "how close one can get to it"},
        {"models", models}}},
      {"traceEvents", events}};
  out << document.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace benanza
