// SPDX-License-Identifier: Apache-2.0
// JSON of a gap; the keys are documented in docs/gap.md, "JSON", and keep their meaning. Times are in ms.
#include "gap_json.hpp"

#include "drawn_run.hpp"
#include "tensor_cores.hpp"

#include <ostream>

namespace benanza {

using namespace format;

namespace report {

namespace {

template <class E>
std::string name_of(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

Json ratios_json(const Gap& gap) {
  Json result = Json::object();
  for (const auto& each : gap.ratios)
    result[name_of(each.rung)] = {{"bound_ms", ms(each.bound)},
                                  {"ratio", number(each.ratio)},
                                  {"gap_ms", ms(each.gap)},
                                  {"uncertainty", number(each.uncertainty)}};
  return result;
}

Json parts_json(const Gap& gap) {
  Json result = Json::array();
  for (const auto& part : gap.parts) {
    Json items = Json::array();
    for (const auto& item : part.items)
      items.push_back({{"name", item.name}, {"time_ms", ms(item.time)}, {"detail", item.detail}});
    result.push_back({{"cause", name_of(part.cause)},
                      {"words", describe(part.cause)},
                      {"time_ms", ms(part.time)},
                      {"uncertainty_ms", ms(part.uncertainty)},
                      {"items", std::move(items)}});
  }
  return result;
}

Json phases_json(const Gap& gap) {
  Json result = Json::array();
  for (const auto& phase : gap.phases) {
    Json causes = Json::array();
    for (const auto& [cause, time] : phase.causes)
      causes.push_back({{"cause", name_of(cause)}, {"words", describe(cause)}, {"time_ms", ms(time)}});
    result.push_back({{"phase", name_of(phase.phase)},
                      {"engine_ms", ms(phase.engine)},
                      {"bound_ms", ms(phase.bound)},
                      {"causes", std::move(causes)}});
  }
  return result;
}

Json records_json(const GapReport& report, const DrawnRun& drawn) {
  Json result = Json::array();
  for (std::size_t i = 0; i < report.gap.records.size(); ++i) {
    const MatchedRecord& record = report.gap.records[i];
    const ProfileRecord& said = report.profile.records[record.record];
    const auto& span = drawn.spans[i];
    Json entry{{"name", said.name},
               {"op", said.op},
               {"activity", name_of(said.activity)},
               {"algorithm", said.algorithm},
               {"provider", said.provider},
               {"lane", said.lane},
               {"start_ms", ms(said.start)},
               {"time_ms", ms(record.time)},
               {"drawn_start_ms", span ? ms(span->start) : Json(nullptr)},
               {"drawn_ms", span ? ms(span->time) : Json(nullptr)},
               {"uncertainty_ms", ms(record.uncertainty)},
               {"counted", record.counted},
               {"matched_by", name_of(record.by)},
               {"cause", name_of(record.cause)},
               {"group", record.group ? Json(*record.group) : Json(nullptr)},
               {"place", {{"file", said.place.file}, {"position", said.place.position}}}};
    const auto on = on_tensor_cores(said);
    entry["tensor_cores"] = on ? Json(*on) : Json(nullptr);
    if (!record.doubt.empty()) entry["doubt"] = record.doubt;
    result.push_back(std::move(entry));
  }
  return result;
}

Json groups_json(const Gap& gap) {
  Json result = Json::array();
  for (const auto& group : gap.groups)
    result.push_back({{"name", group.name},
                      {"pattern", group.pattern},
                      {"records", group.records},
                      {"layers", group.layers},
                      {"signatures", group.signatures},
                      {"engine_ms", ms(group.engine)},
                      {"bound_ms", ms(group.bound)},
                      {"separate_ms", ms(group.separate)},
                      {"roofline_ms", ms(group.roofline)},
                      {"not_fused_ms", ms(group.not_fused)},
                      {"throughout_ms", ms(group.throughout)},
                      {"uncertainty_ms", ms(group.uncertainty)},
                      {"cause", name_of(group.cause)},
                      {"doubtful", group.doubtful}});
  return result;
}

Json algorithms_json(const Gap& gap) {
  Json result = Json::array();
  for (const auto& choice : gap.algorithms)
    result.push_back({{"layer", choice.layer},
                      {"signature", choice.signature},
                      {"library", choice.library},
                      {"chosen", choice.chosen},
                      {"math", choice.math},
                      {"best", choice.best},
                      {"chosen_ms", ms(choice.chosen_time)},
                      {"best_ms", ms(choice.best_time)},
                      {"count", choice.count},
                      {"gain_ms", ms(choice.gain())},
                      {"uncertainty_ms", ms(choice.uncertainty)}});
  return result;
}

Json layout_calls_json(const LayoutGain& layout) {
  Json result = Json::array();
  for (const auto& call : layout.calls)
    result.push_back(
        {{"signature", call.signature}, {"plan", call.plan}, {"time_ms", ms(call.time)}, {"plain_ms", ms(call.plain)}});
  return result;
}

Json joint_json(const Gap& gap) {
  if (!gap.joint) return nullptr;
  Json steps = Json::array();
  for (const auto& step : gap.joint->steps)
    steps.push_back({{"what", step.what},
                     {"change", step.change ? Json(name_of(*step.change)) : Json(nullptr)},
                     {"gain_ms", ms(step.gain)},
                     {"latency_ms", ms(step.latency)}});
  return {{"type", name(gap.joint->type)},
          {"latency_ms", ms(gap.joint->latency)},
          {"uncertainty_ms", ms(gap.joint->uncertainty)},
          {"steps", std::move(steps)}};
}

Json questions_json(const Gap& gap) {
  Json fusions = Json::array(), types = Json::array(), layouts = Json::array(), library = Json::array(),
       backends = Json::array();
  for (const auto& fusion : gap.fusions)
    fusions.push_back({{"pattern", fusion.pattern},
                       {"count", fusion.count},
                       {"done", fusion.done},
                       {"unknown", fusion.unknown},
                       {"gain_ms", ms(fusion.gain)},
                       {"open_ms", ms(fusion.open)},
                       {"nodes", fusion.nodes}});
  for (const auto& type : gap.types)
    types.push_back({{"type", name(type.type)},
                     {"measured", type.measured},
                     {"rung", enum_names(RungName{})[static_cast<std::size_t>(type.rung)]},
                     {"bound_ms", ms(type.bound)},
                     {"compared_ms", ms(type.compared)},
                     {"gain_ms", ms(type.gain())},
                     {"uncertainty_ms", ms(type.uncertainty)}});
  for (const auto& layout : gap.layouts)
    layouts.push_back({{"layout", layout.layout},
                       {"layers", layout.layers},
                       {"gain_ms", ms(layout.gain)},
                       {"calls", layout_calls_json(layout)}});
  for (const auto& each : gap.library)
    library.push_back({{"signature", each.signature},
                       {"backend", each.backend},
                       {"algorithm", each.algorithm},
                       {"count", each.count},
                       {"time_ms", ms(each.time)},
                       {"roofline_ms", ms(each.floor)},
                       {"gain_ms", ms(each.gain())}});
  for (const auto& each : gap.backends)
    backends.push_back({{"signature", each.signature},
                        {"from", each.from},
                        {"to", each.to},
                        {"count", each.count},
                        {"from_ms", ms(each.from_time)},
                        {"to_ms", ms(each.to_time)},
                        {"gain_ms", ms(each.gain())}});
  return {{"parallel",
           {{"gain_ms", ms(gap.parallel.gain)},
            {"side_by_side_ms", ms(gap.parallel.side_by_side)},
            {"critical_path", gap.parallel.path},
            {"groups_off_path", gap.parallel.groups_off_path}}},
          {"algorithms", algorithms_json(gap)},
          {"fusions", fusions},
          {"types", types},
          {"layouts", layouts},
          {"library", library},
          {"backends", backends},
          {"joint", joint_json(gap)}};
}

Json libraries_json(const Gap& gap) {
  Json result = Json::array();
  for (const auto& each : gap.by_library)
    result.push_back({{"library", each.library}, {"time_ms", ms(each.time)}, {"records", each.records}});
  return result;
}

Json between_json(const EngineProfile& profile) {
  Json result = Json::array();
  for (const auto& each : profile.between)
    result.push_back({{"name", each.name},
                      {"activity", name_of(each.activity)},
                      {"after", each.after},
                      {"before", each.before},
                      {"count", number(each.count)},
                      {"time_ms", ms(each.time)},
                      {"chain", each.chain}});
  return result;
}

Json advice_json(const GapReport& report) {
  Json result = Json::array();
  for (std::size_t i = 0; i < report.gap.advice.size(); ++i) {
    const Advice& advice = report.gap.advice[i];
    Json calls = Json::array();
    for (const auto& call : advice.calls)
      calls.push_back(
          {{"signature", call.signature}, {"count", call.count}, {"plan", call.plan}, {"time_ms", ms(call.time)}});
    Json entry{{"change", name_of(advice.change)},
               {"text", advice.text},
               {"layers", advice.layers},
               {"predicted_ms", ms(advice.gain)},
               {"uncertainty_ms", ms(advice.uncertainty)},
               {"how", advice.how},
               {"reproduce", advice.reproduce},
               {"replaced_ms", ms(advice.replaced)},
               {"calls", calls}};
    for (const auto& proof : report.proofs)
      if (proof.advice == i) {
        entry["achieved_ms"] = ms(proof.achieved);
        entry["achieved_uncertainty_ms"] = ms(proof.uncertainty);
        if (!proof.reason.empty()) entry["not_proven"] = proof.reason;
      }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace

Json gap_json(const GapReport& report) {
  const Gap& gap = report.gap;
  const TensorCoreUse use = tensor_core_use(report);
  const DrawnRun drawn = drawn_run(report);
  Json result{{"model", gap.model},
              {"file", gap.file},
              {"engine", gap.engine},
              {"engine_version", gap.version},
              {"format", gap.format},
              {"files", report.profile.files},
              {"device", gap.device},
              {"threads", gap.threads ? Json(*gap.threads) : Json(nullptr)},
              {"passes", gap.passes},
              {"quiet_passes", gap.quiet_passes},
              {"warm_ups", gap.warm_ups},
              {"latency_ms", ms(gap.latency)},
              {"latency_p10_ms", ms(gap.p10)},
              {"latency_p90_ms", ms(gap.p90)},
              {"latency_uncertainty_ms", ms(gap.latency_uncertainty)},
              {"latency_of_records", gap.latency_of_records},
              {"rung", name_of(gap.rung)},
              {"bound_ms", ms(gap.bound)},
              {"bound_uncertainty", number(gap.bound_uncertainty)},
              {"partial", gap.partial},
              {"gap_ms", ms(gap.gap)},
              {"outside", gap.outside},
              {"total_only", gap.total_only},
              {"incomplete", gap.incomplete},
              {"explained", number(gap.explained())},
              {"rungs", ratios_json(gap)},
              {"slowdown", number(gap.slowdown)},
              {"parts", parts_json(gap)},
              {"groups", groups_json(gap)},
              {"drawn", drawn.what},
              {"records", records_json(report, drawn)},
              {"not_found", gap.not_found},
              {"deviations", gap.deviations},
              {"warnings", gap.warnings}};
  result["tensor_cores"] = {{"time_ms", ms(use.time)},
                            {"of_ms", ms(use.of_time)},
                            {"share", number(use.share())},
                            {"records", use.records},
                            {"of_records", use.of_records}};
  if (!gap.doubt.empty()) result["provisional"] = gap.doubt;
  if (gap.floor_share > 0) result["floor_share"] = number(gap.floor_share);
  if (!gap.phases.empty()) result["phases"] = phases_json(gap);
  result["by_library"] = libraries_json(gap);
  result["between_library_calls"] = between_json(report.profile);
  result["questions"] = questions_json(gap);
  result["advice"] = advice_json(report);
  if (report.bound.training) result["answers"] = bound_answers(report.bound.models.front());
  if (!report.bound.witnesses.empty()) {
    Json model{{"bounds_ms", Json::object()}};
    add_witness(model, report.bound.witnesses.front(), report.bound.models.front());
    result["witness"] = model["witness"];
  }
  return result;
}

}  // namespace report

void write_json(std::ostream& out, const GapReport& report) {
  using namespace report;
  Json machine = machine_json(report.bound.machine);
  machine["backends"] = backends_json(report.bound.backends);
  machine["warnings"] = report.bound.warnings;
  write(out, {{"schema", 1}, {"machine", std::move(machine)}, {"gaps", Json::array({gap_json(report)})}});
}

}  // namespace benanza
