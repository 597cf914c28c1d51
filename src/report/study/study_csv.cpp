// SPDX-License-Identifier: Apache-2.0
#include "format/numbers.hpp"
#include <benanza/report/study_report.hpp>

#include <fmt/format.h>

#include <ostream>

namespace benanza {

using namespace format;

namespace {

std::string number_field(std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

void write_csv(std::ostream& out, const Study& study) {
  out << "model,device,framework,batch,type,latency_ms,latency_min_ms,latency_max_ms,source,missing_layers,advised_ms";
  for (const auto name : enum_names(RungName{})) out << ',' << name << "_ms";
  for (const auto name : enum_names(RungName{})) out << ",ratio_" << name;
  for (const auto name : enum_names(Optimization{})) out << ",speedup_" << name;
  out << ",narrow_type,chosen_over_best,doubt,latency_file,provisional\n";
  for (const auto& row : study.rows) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}", csv_field(row.model), csv_field(row.device),
                       csv_field(row.framework), row.batch, row.type ? name(*row.type) : "", ms_field(row.latency),
                       ms_field(row.lowest), ms_field(row.highest), csv_field(row.source), row.missing,
                       ms_field(row.advised));
    for (const auto& rung : row.rungs) out << ',' << ms_field(rung);
    for (const auto& ratio : row.ratios) out << ',' << number_field(ratio);
    for (const auto& speedup : row.speedups) out << ',' << number_field(speedup);
    out << ',' << (row.narrow ? name(*row.narrow) : "") << ',' << number_field(row.chosen_over_best) << ','
        << csv_field(row.doubt) << ',' << csv_field(row.file) << ',' << csv_field(row.provisional) << '\n';
  }
}

}  // namespace benanza
