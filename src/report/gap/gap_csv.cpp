// SPDX-License-Identifier: Apache-2.0
#include "format/numbers.hpp"
#include "tensor_cores.hpp"
#include <benanza/report/gap_report.hpp>

#include <fmt/format.h>

#include <ostream>

namespace benanza {

using namespace format;

void write_csv(std::ostream& out, const GapReport& report) {
  const Gap& gap = report.gap;
  out << "model,record,op,activity,lane,start_ms,time_ms,matched_by,cause,group,group_engine_ms,group_bound_ms,"
         "pattern,tensor_cores,library\n";
  for (const auto& record : gap.records) {
    const ProfileRecord& said = report.profile.records[record.record];
    const GapGroup* group = record.group ? &gap.groups[*record.group] : nullptr;
    const auto on = report::on_tensor_cores(said);
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(gap.model), csv_field(said.name),
                       csv_field(said.op), enum_names(said.activity)[static_cast<std::size_t>(said.activity)],
                       said.lane, said.start ? fmt::format("{}", said.start->value * 1e3) : "", record.time.value * 1e3,
                       enum_names(record.by)[static_cast<std::size_t>(record.by)],
                       enum_names(record.cause)[static_cast<std::size_t>(record.cause)],
                       group ? csv_field(group->name) : "", group ? fmt::format("{}", group->engine.value * 1e3) : "",
                       group ? fmt::format("{}", group->bound.value * 1e3) : "", group ? csv_field(group->pattern) : "",
                       on ? (*on ? "1" : "0") : "", csv_field(said.library));
  }
  for (const auto& name : gap.not_found)
    out << fmt::format("{},,,,,,,nothing,{},{},,,,,\n", csv_field(gap.model),
                       enum_names(Cause{})[static_cast<std::size_t>(Cause::not_in_profile)], csv_field(name));
}

void write_rungs_csv(std::ostream& out, const GapReport& report) {
  const Gap& gap = report.gap;
  const auto line = [&](std::string_view name, std::optional<Seconds> time, std::optional<double> ratio,
                        std::optional<Seconds> distance, bool compared, std::string_view reason) {
    out << fmt::format("{},{},{},{},{},{},{}\n", format::csv_field(gap.model), name, format::ms_field(time),
                       ratio ? fmt::format("{}", *ratio) : "", format::ms_field(distance), compared ? 1 : 0,
                       format::csv_field(reason));
  };
  out << "model,rung,median_ms,ratio,gap_ms,compared,reason\n";
  line("measured", gap.latency, std::nullopt, std::nullopt, false, gap.outside);
  for (const RungRatio& each : gap.ratios)
    if (each.bound && each.rung != RungName::roofline_memory)
      line(enum_names(RungName{})[static_cast<std::size_t>(each.rung)], each.bound, each.ratio, each.gap,
           each.rung == gap.rung, "");
  if (report.bound.witnesses.empty()) return;
  const Witness& witness = report.bound.witnesses.front();
  if (!witness.given()) return line("witness", std::nullopt, std::nullopt, std::nullopt, false, witness.refused);
  const bool known = gap.latency && gap.latency->value > 0;
  line("witness", witness.median, known ? std::optional(witness.median / *gap.latency) : std::nullopt,
       known ? std::optional(*gap.latency - witness.median) : std::nullopt, false, "");
}

}  // namespace benanza
