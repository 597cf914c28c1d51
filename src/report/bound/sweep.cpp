// SPDX-License-Identifier: Apache-2.0
// Sweeps as text:
//
//   resnet50 over batch    library fused, median of rounds
//      batch    latency      bound    ±     floor   inputs/s
//          1    16.1 ms    15.9 ms  0.6 %  5.1 ms       62.1
//          2    31.0 ms    30.7 ms  0.5 %  9.9 ms       64.5
//   after batch 1 throughput no longer gains 5 %
#include "sweep.hpp"

#include "format/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace benanza::report {

using namespace format;

namespace {

std::string time_or_unknown(std::optional<Seconds> time) { return time ? time_text(*time) : "unknown"; }

std::string rung_text(RungName rung) { return std::string(enum_names(rung)[static_cast<std::size_t>(rung)]); }

}  // namespace

void write_sweep_table(std::ostream& out, const std::vector<Sweep>& sweeps) {
  for (const auto& sweep : sweeps) {
    std::string rung = rung_text(sweep.rung);
    std::replace(rung.begin(), rung.end(), '_', ' ');
    out << fmt::format("{} over {}{}    {}\n", clipped(sweep.model, 40), clipped(sweep.axis, 30),
                       sweep.fixed.empty() ? "" : ", " + clipped(sweep.fixed, 60), rung);
    out << fmt::format("  {:>8} {:>10} {:>10} {:>8} {:>10} {:>12}\n", clipped(sweep.axis, 8), "latency", "bound", "±",
                       "floor", clipped(sweep.unit, 10) + "/s");
    for (const auto& point : sweep.points)
      out << fmt::format("  {:>8} {:>10} {:>10} {:>8} {:>10} {:>12}{}\n", point.value, time_or_unknown(point.latency),
                         time_or_unknown(point.bound),
                         point.floor_share > most_floor_share ? fmt::format("F {:.0f} %", 100 * point.floor_share)
                                                              : fmt::format("{:.1f} %", 100 * point.uncertainty),
                         time_or_unknown(point.model_floor),
                         point.throughput ? fmt::format("{:.4g}", *point.throughput) : "unknown",
                         point.partial       ? "  partial"
                         : point.provisional ? "  provisional"
                                             : "");
    const auto last = sweep.last_gain();
    if (last)
      out << fmt::format("  after {} {} throughput no longer gains 5 %\n\n", clipped(sweep.axis, 30),
                         sweep.points[*last].value);
    else if (std::any_of(sweep.points.begin(), sweep.points.end(), [](const auto& p) { return !p.throughput; }))
      out << "  throughput is unknown where layers have no time (F: share of their floors in the bound)\n\n";
    else out << "  throughput still gains 5 % at the last point\n\n";
  }
}

void write_sweep_csv(std::ostream& out, const std::vector<Sweep>& sweeps) {
  out << "model,axis,fixed,value,rung,latency_ms,bound_ms,uncertainty,model_floor_ms,unit,throughput_per_s,partial,"
         "last_gain,provisional,floor_share\n";
  for (const auto& sweep : sweeps) {
    const auto last = sweep.last_gain();
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
      const SweepPoint& point = sweep.points[i];
      out << fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(sweep.model), csv_field(sweep.axis),
          csv_field(sweep.fixed), point.value, rung_text(sweep.rung), ms_field(point.latency), ms_field(point.bound),
          point.floor_share > most_floor_share ? "" : fmt::format("{}", point.uncertainty), ms_field(point.model_floor),
          csv_field(sweep.unit), point.throughput ? fmt::format("{}", *point.throughput) : "", point.partial ? 1 : 0,
          last == i ? 1 : 0, point.provisional ? 1 : 0, point.floor_share);
    }
  }
}

}  // namespace benanza::report
