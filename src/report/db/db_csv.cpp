// SPDX-License-Identifier: Apache-2.0
// CSV reports of `benanza db` (RFC 4180): one line per row, units in the column's name.
#include "format/numbers.hpp"
#include <benanza/report/db_report.hpp>

#include <fmt/format.h>

#include <ostream>

namespace benanza {

using namespace format;

namespace {

std::string number_field(std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; }

std::string median_ms(const std::optional<Measurement>& row) {
  return row ? number_field(timing_of(*row).median.value * 1e3) : "";
}

std::string p10_ms(const std::optional<Measurement>& row) {
  return row ? number_field(timing_of(*row).p10.value * 1e3) : "";
}

std::string plan(const std::optional<Measurement>& row) { return row ? row->backend + " " + row->algorithm : ""; }

/// `name 64x1x1 blocks of 128x1x1; ...`.
std::string kernels_text(const std::vector<KernelLaunch>& kernels) {
  const auto size = [](const LaunchSize& s) { return fmt::format("{}x{}x{}", s.x, s.y, s.z); };
  std::string text;
  for (const auto& kernel : kernels)
    text += fmt::format("{}{} {} blocks of {}", text.empty() ? "" : "; ", kernel.name, size(kernel.grid),
                        size(kernel.block));
  return text;
}

std::string_view verdict(const Comparison& comparison) {
  return enum_names(Verdict{})[static_cast<std::size_t>(comparison.verdict)];
}

/// The sides on which a rung is provisional.
std::string_view provisional_sides(const RungChange& rung) {
  if (rung.before.provisional()) return rung.after.provisional() ? "both" : "before";
  return rung.after.provisional() ? "after" : "";
}

void conflict_rows(std::ostream& out, const std::vector<Conflict>& conflicts) {
  for (const auto& c : conflicts)
    out << fmt::format("conflict,{},{},{},{},{},{}\n", csv_field(c.row), csv_field(c.first_file),
                       number_field(c.first.times->median.value * 1e3), csv_field(c.second_file),
                       c.second.measured() ? number_field(c.second.times->median.value * 1e3) : "",
                       csv_field(c.second.reason));
}

}  // namespace

void write_csv(std::ostream& out, const DbList& report) {
  out << "file,started,suite,machine,backends,timed,refused,ceilings,warnings\n";
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const Run& run = report.runs[i];
    std::string backends;
    for (const auto& backend : run.backends)
      backends += (backends.empty() ? "" : "; ") + backend.name + " " + backend.version;
    out << fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(run.file), csv_field(run.started), csv_field(run.name),
                       csv_field(run.machine.id()), csv_field(backends), report.timed[i], report.refused[i],
                       run.ceilings.size(), run.warnings.size());
  }
}

void write_csv(std::ostream& out, const DbVerification& report) {
  out << "kind,what,file,median_ms,other_file,other_median_ms,reason\n";
  for (const auto& finding : report.findings)
    out << fmt::format("finding,{},{},,,,\n", csv_field(finding.what), csv_field(finding.file));
  conflict_rows(out, report.conflicts);
}

void write_csv(std::ostream& out, const DbMerge& report) {
  out << "kind,what,file,median_ms,other_file,other_median_ms,reason\n";
  for (const auto& entry : report.merge.added)
    out << fmt::format("added,,{},,{},,\n", csv_field(entry.source), csv_field(entry.target));
  for (const auto& entry : report.merge.known)
    out << fmt::format("known,,{},,{},,\n", csv_field(entry.source), csv_field(entry.target));
  for (const auto& line : report.merge.refused) out << fmt::format("refused,{},,,,,\n", csv_field(line));
  conflict_rows(out, report.conflicts);
}

void write_csv(std::ostream& out, const DbDiff& report) {
  out << "signature,cache,verdict,change,noise,before_p10_ms,after_p10_ms,before_median_ms,after_median_ms,"
         "before_plan,after_plan,reason,kernels_gone,kernels_new\n";
  for (const auto& layer : report.diff.layers)
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(layer.signature),
                       enum_names(CacheState{})[static_cast<std::size_t>(layer.cache)], verdict(layer.comparison),
                       number_field(layer.comparison.change), layer.comparison.noise, p10_ms(layer.before),
                       p10_ms(layer.after), median_ms(layer.before), median_ms(layer.after),
                       csv_field(plan(layer.before)), csv_field(plan(layer.after)), csv_field(layer.comparison.reason),
                       csv_field(layer.kernels ? kernels_text(layer.kernels->gone) : ""),
                       csv_field(layer.kernels ? kernels_text(layer.kernels->added) : ""));
}

void write_rungs_csv(std::ostream& out, const DbDiff& report) {
  out << "model,rung,verdict,change,noise,before_p10_ms,after_p10_ms,before_median_ms,after_median_ms,headline,reason,"
         "provisional\n";
  for (const auto& model : report.diff.models)
    for (const auto& rung : model.rungs)
      out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(model.model),
                         enum_names(RungName{})[static_cast<std::size_t>(rung.rung)], verdict(rung.comparison),
                         number_field(rung.comparison.change), rung.comparison.noise, ms_field(rung.before.bound),
                         ms_field(rung.after.bound), ms_field(rung.before.median), ms_field(rung.after.median),
                         rung.rung == model.headline ? 1 : 0, csv_field(rung.comparison.reason),
                         provisional_sides(rung));
}

}  // namespace benanza
