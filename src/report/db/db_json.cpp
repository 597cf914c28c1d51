// SPDX-License-Identifier: Apache-2.0
// JSON reports of `benanza db`; the keys are documented in docs/database.md, "Verdicts", and keep their meaning.
#include "report/json.hpp"
#include "report/row_kernels.hpp"
#include <benanza/report/db_report.hpp>

namespace benanza {

using namespace format;

namespace {

using namespace report;

void add_comparison(Json& json, const Comparison& comparison) {
  json["verdict"] = enum_names(Verdict{})[static_cast<std::size_t>(comparison.verdict)];
  json["change"] = number(comparison.change);
  json["noise"] = number(comparison.noise);
  if (!comparison.reason.empty()) json["reason"] = comparison.reason;
}

Json row_json(const std::optional<Measurement>& row) {
  if (!row) return nullptr;
  Json result{{"backend", row->backend}, {"algorithm", row->algorithm}};
  if (!row->measured()) {
    result["refused"] = row->reason;
    return result;
  }
  const Timing timing = timing_of_session(*row);
  result["p10_ms"] = ms(timing.p10);
  result["median_ms"] = ms(timing.median);
  result["noise"] = number(timing.noise);
  return result;
}

Json rung_json(const Rung& rung) {
  Json result{{"p10_ms", ms(rung.bound)}, {"median_ms", ms(rung.median)}, {"uncertainty", number(rung.uncertainty)}};
  if (rung.provisional()) result["provisional"] = rung.doubt;
  return result;
}

Json conflicts_json(const std::vector<Conflict>& conflicts) {
  Json result = Json::array();
  for (const auto& c : conflicts) {
    Json entry{{"row", c.row},
               {"library", c.backend},
               {"first", {{"file", c.first_file}, {"row", row_json(c.first)}}},
               {"second", {{"file", c.second_file}, {"row", row_json(c.second)}}}};
    add_comparison(entry, c.comparison);
    result.push_back(std::move(entry));
  }
  return result;
}

Json entries_json(const std::vector<ResultMerge::Entry>& entries) {
  Json result = Json::array();
  for (const auto& entry : entries) result.push_back({{"source", entry.source}, {"file", entry.target}});
  return result;
}

Json side_json(const DbDiff::Side& side) {
  return {{"place", side.place},
          {"machine", side.machine.id()},
          {"device", side.machine.device},
          {"backends", backends_json(side.backends)},
          {"runs", side.runs}};
}

}  // namespace

void write_json(std::ostream& out, const DbList& report) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const Run& run = report.runs[i];
    runs.push_back({{"file", run.file},
                    {"started", run.started},
                    {"suite", run.name},
                    {"benanza_version", run.tool},
                    {"signature_version", run.signature_version},
                    {"machine", run.machine.id()},
                    {"device", run.machine.device},
                    {"backends", backends_json(run.backends)},
                    {"timed", report.timed[i]},
                    {"refused", report.refused[i]},
                    {"ceilings", run.ceilings.size()},
                    {"warnings", run.warnings}});
    if (report.disagreeing[i] > 0) runs.back()["no_method_agrees"] = report.disagreeing[i];
  }
  write(out, {{"schema", 1}, {"runs", runs}, {"not_read", report.unread}});
}

void write_json(std::ostream& out, const DbVerification& report) {
  Json findings = Json::array();
  for (const auto& finding : report.findings) findings.push_back({{"file", finding.file}, {"what", finding.what}});
  write(out, {{"schema", 1},
              {"files", report.files},
              {"rows", report.rows},
              {"ignored_elements", report.ignored_elements},
              {"ignored_files", report.ignored_files},
              {"findings", findings},
              {"conflicts", conflicts_json(report.conflicts)}});
}

void write_json(std::ostream& out, const DbMerge& report) {
  write(out, {{"schema", 1},
              {"folder", report.folder},
              {"added", entries_json(report.merge.added)},
              {"known", entries_json(report.merge.known)},
              {"refused", report.merge.refused},
              {"conflicts", conflicts_json(report.conflicts)}});
}

void write_json(std::ostream& out, const DbDiff& report) {
  Json models = Json::array(), layers = Json::array();
  for (const auto& model : report.diff.models) {
    Json rungs = Json::object();
    for (const auto& rung : model.rungs) {
      Json entry{{"before", rung_json(rung.before)}, {"after", rung_json(rung.after)}};
      add_comparison(entry, rung.comparison);
      rungs[std::string(enum_names(RungName{})[static_cast<std::size_t>(rung.rung)])] = std::move(entry);
    }
    models.push_back({{"model", model.model},
                      {"headline", enum_names(RungName{})[static_cast<std::size_t>(model.headline)]},
                      {"rungs", std::move(rungs)}});
  }
  for (const auto& layer : report.diff.layers) {
    Json entry{{"signature", layer.signature},
               {"cache", enum_names(CacheState{})[static_cast<std::size_t>(layer.cache)]},
               {"before", row_json(layer.before)},
               {"after", row_json(layer.after)}};
    add_comparison(entry, layer.comparison);
    if (layer.kernels)
      entry["kernels"] = {{"gone", kernels_json(layer.kernels->gone)}, {"new", kernels_json(layer.kernels->added)}};
    layers.push_back(std::move(entry));
  }
  write(out, {{"schema", 1},
              {"before", side_json(report.before)},
              {"after", side_json(report.after)},
              {"tolerance", report.tolerance},
              {"models", models},
              {"layers", layers}});
}

}  // namespace benanza
