// SPDX-License-Identifier: Apache-2.0
// JSON reports; the keys are documented in docs/program.md, "JSON", and keep their meaning.
#include "json.hpp"

#include "report/layers/known_layers_views.hpp"
#include "row_kernels.hpp"
#include <benanza/model/layer_signature.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace benanza {

using namespace format;

namespace report {

Json backends_json(const std::vector<BackendVersion>& backends) {
  Json result = Json::array();
  for (const auto& backend : backends) result.push_back({{"name", backend.name}, {"version", backend.version}});
  return result;
}

Json machine_json(const Machine& machine) {
  Json caches = Json::array();
  for (const auto& cache : machine.caches)
    caches.push_back({{"level", cache.level}, {"total_bytes", whole(cache.total.value)}});
  Json result{{"device", machine.device},     {"isa", machine.isa}, {"cores", machine.cores},
              {"affinity", machine.affinity}, {"caches", caches},   {"memory_bytes", whole(machine.memory.value)},
              {"system", machine.system}};
  for (const auto& [key, value] :
       {std::pair("family", &machine.family), std::pair("model", &machine.model),
        std::pair("stepping", &machine.stepping), std::pair("microcode", &machine.microcode),
        std::pair("hypervisor", &machine.hypervisor), std::pair("settings", &machine.settings)})
    if (!value->empty()) result[key] = *value;
  if (machine.is_device()) {
    result["driver"] = machine.driver;
    result["state"] = machine.state;
  }
  return result;
}

}  // namespace report

namespace {

using namespace report;

Json peaks_json(const Ceilings& ceilings) {
  Json result = Json::object();
  for (const auto& [type, peak] : ceilings.peaks) result[std::string(name(type)) + "_flops_per_s"] = number(peak.value);
  for (const auto& level : ceilings.levels) result[level.name + "_bytes_per_s"] = number(level.bandwidth.value);
  if (ceilings.memory_bandwidth().value > 0) result["read_bytes_per_s"] = number(ceilings.memory_bandwidth().value);
  return result;
}

/// What reached each ceiling, by the same keys.
Json reached_by_json(const Ceilings& ceilings) {
  Json result = Json::object();
  for (const auto& [type, row] : ceilings.reached_by) result[std::string(name(type)) + "_flops_per_s"] = row;
  for (const auto& level : ceilings.levels) result[level.name + "_bytes_per_s"] = level.reached_by;
  return result;
}

Json coverage_json(const Coverage& coverage) {
  Json result = Json::object(), time = Json::object(), flops = Json::object();
  for (std::size_t s = 0; s < 4; ++s) {
    const std::string status(enum_names(Status{})[s]);
    result[status] = coverage.count[s];
    time[status] = coverage.time_share[s];
    flops[status] = coverage.flops_share[s];
  }
  result["time_share"] = time;
  result["flops_share"] = flops;
  return result;
}

/// How a row of a device was timed; adds nothing for a row that a clock timed.
void add_timing(Json& result, const Measurement& row) {
  if (!row.device || row.device->method.empty()) return;
  const DeviceTiming& device = *row.device;
  result["method"] = device.method;
  result["launch_ms"] = ms(device.launch);
  result["methods_disagreement"] = number(device.disagreement.value_or(0));
  result["methods_disagree"] = methods_disagree(row);
  if (device.other) {
    result["other_method_ms"] = ms(device.other->time);
    result["other_launch_ms"] = ms(device.other->launch);
  }
  if (no_method_agrees(row)) result["no_method_agrees"] = true;
  if (device.kernels) {
    result["kernels_ms"] = ms(device.kernels->whole);
    result["empty_kernels_ms"] = ms(device.kernels->empty);
    result["activity_disagrees"] = activity_disagrees(row);
  }
  if (device.clock_hz) {
    result["clock_hz"] = number(*device.clock_hz);
    result["throttled"] = device.throttled;
  }
}

Json candidates_json(const std::vector<Measurement>& candidates) {
  Json result = Json::array();
  for (const auto& row : candidates) {
    Json candidate{{"backend", row.backend},
                   {"algorithm", row.algorithm},
                   {"cache", enum_names(row.cache)[static_cast<std::size_t>(row.cache)]}};
    if (!row.measured()) {
      candidate["excluded"] = row.reason;
    } else {
      candidate["p10_ms"] = ms(row.times->p10);
      candidate["median_ms"] = ms(row.times->median);
      candidate["p90_ms"] = ms(row.times->p90);
      candidate["cv"] = number(row.times->cv);
      candidate["samples"] = row.samples;
      candidate["chosen"] = !row.rounds_s.empty();
      candidate["advised"] = row.advised;
      candidate["noisy"] = row.noisy;
      candidate["contended"] = row.contended;
      candidate["workspace_bytes"] = row.workspace_bytes;
      candidate["difference"] = number(row.difference.value_or(0));
      add_timing(candidate, row);
      if (!row.kernel_launches.empty()) candidate["kernels"] = kernels_json(row.kernel_launches);
    }
    result.push_back(std::move(candidate));
  }
  return result;
}

Json ended_json(const std::vector<Measurement>& ended) {
  Json result = Json::array();
  for (const auto& row : ended) result.push_back({{"row", row.name()}, {"reason", row.reason}});
  return result;
}

Json quietest_json(const Analysis::QuietestSession& session) {
  return {{"started", session.started},
          {"newest", session.newest},
          {"in_doubt", session.in_doubt},
          {"replaced", session.replaced}};
}

Json row_json(const LayerRow& row) {
  Json result{{"signature", row.signature},
              {"form", enum_names(row.form)[static_cast<std::size_t>(row.form)]},
              {"count", row.count},
              {"nodes", row.nodes},
              {"status", enum_names(row.status)[static_cast<std::size_t>(row.status)]}};
  if (row.not_taken > 0) result["not_taken"] = row.not_taken;
  if (row.chosen) {
    result["backend"] = row.chosen->backend;
    result["algorithm"] = row.chosen->algorithm;
    result["cache"] = enum_names(row.chosen->cache)[static_cast<std::size_t>(row.chosen->cache)];
    result["p10_ms"] = ms(row.p10);
    result["median_ms"] = ms(row.median);
    result["cv"] = number(row.chosen->times->cv);
    result["samples"] = row.chosen->samples;
    result["noisy"] = row.chosen->noisy;
    result["contended"] = row.chosen->contended;
    result["saves_multiplications"] = row.chosen->saves_multiplications;
    add_timing(result, *row.chosen);
    if (row.bounding)
      result["bounded_by"] = {{"backend", row.bounding->backend},
                              {"algorithm", row.bounding->algorithm},
                              {"median_ms", ms(row.bounding->times->median)},
                              {"launch_ms", ms(row.bounding->device ? row.bounding->device->launch : Seconds{})}};
    if (row.cold)
      result["cold_weights"] = {{"backend", row.cold->backend},
                                {"algorithm", row.cold->algorithm},
                                {"p10_ms", ms(row.cold->times->p10)},
                                {"median_ms", ms(row.cold->times->median)}};
  } else if (!row.reason.empty()) {
    result["reason"] = row.reason;
  }
  result["floor_ms"] = ms(row.floor());
  result["of_roofline"] = row.of_roofline() ? number(*row.of_roofline()) : Json(nullptr);
  result["flops"] = number(row.cost.flops.value);
  result["bytes"] = number(row.cost.bytes().value);
  if (row.weights)
    result["weights"] = {{"stored", number(row.weights->stored.value)}, {"read", number(row.weights->read.value)}};
  if (row.lookup)
    result["lookup"] = {{"certain", number(row.lookup->certain.value)},
                        {"expected", number(row.lookup->expected.value)}};
  result["critical"] = row.critical;
  if (row.untried > 0) result["untried"] = row.untried;
  if (row.most_threads > 0) result["most_threads"] = row.most_threads;
  if (!row.candidates.empty()) result["plans"] = candidates_json(row.candidates);
  return result;
}

}  // namespace

namespace report {

Json sweeps_json(const std::vector<Sweep>& sweeps) {
  Json result = Json::array();
  for (const auto& sweep : sweeps) {
    Json points = Json::array();
    for (const auto& point : sweep.points)
      points.push_back({{"value", point.value},
                        {"latency_ms", ms(point.latency)},
                        {"bound_ms", ms(point.bound)},
                        {"uncertainty", point.floor_share > most_floor_share ? Json() : number(point.uncertainty)},
                        {"floor_share", number(point.floor_share)},
                        {"model_floor_ms", ms(point.model_floor)},
                        {"throughput_per_s", point.throughput ? number(*point.throughput) : Json(nullptr)},
                        {"partial", point.partial},
                        {"provisional", point.provisional}});
    const auto last = sweep.last_gain();
    result.push_back({{"model", sweep.model},
                      {"axis", sweep.axis},
                      {"fixed", sweep.fixed},
                      {"unit", sweep.unit},
                      {"rung", enum_names(sweep.rung)[static_cast<std::size_t>(sweep.rung)]},
                      {"points", points},
                      {"last_gain", last ? Json(sweep.points[*last].value) : Json(nullptr)}});
  }
  return result;
}

namespace {

Json floor_exceptions_json(const Analysis& a) {
  Json result = Json::array();
  for (const auto& each : a.floor_exceptions)
    result.push_back({{"node", each.node},
                      {"kind", each.kind},
                      {"flops", number(each.flops.value)},
                      {"bytes", number(each.bytes.value)}});
  return result;
}

}  // namespace

Json summary_json(const Analysis& a) {
  // Rungs that this program does not measure are null: an unknown rung is never 0.
  Json bounds = Json::object(), medians = Json::object(), uncertainty = Json::object(), raised = Json::object();
  Json saving = Json::array(), provisional = Json::object(), floor_share = Json::object();
  for (std::size_t i = 0; i < rung_count; ++i) {
    const std::string key(enum_names(RungName{})[i]);
    const Rung& rung = a.rungs[i];
    bounds[key] = ms(rung.bound);
    if (!rung.median) continue;
    medians[key] = ms(rung.median);
    if (!rung.mostly_floor()) uncertainty[key] = number(rung.uncertainty);
    if (rung.floor_share > 0) floor_share[key] = number(rung.floor_share);
    if (rung.raised.value > 0) raised[key] = ms(rung.raised);
    if (rung.saves_multiplications) saving.push_back(key);
    if (rung.provisional()) provisional[key] = rung.doubt;
  }
  bounds["direct_floor"] = ms(a.direct_floor);  // not a rung
  bounds["witness"] = nullptr;
  Json summary{{"model", a.model},
               {"file", a.file},
               {"batch", a.batch},
               {"dims", a.dims},
               {"assumed", a.assumed},
               {"type", name(a.type)},
               {"threads", a.threads},
               {"partial", a.partial()},
               {"layers", a.layers},
               {"unique_layers", a.unique_layers},
               {"groups", a.groups},
               {"flops", number(a.flops.value)},
               {"macs", a.macs},
               {"bytes", number(a.bytes.value)},
               {"weight_bytes", number(a.weights.value)},
               {"coverage", coverage_json(a.coverage)},
               {"coverage_fused", coverage_json(a.coverage_fused)},
               {"missing", a.missing},
               {"choices", a.choices},
               {"bounds_ms", bounds},
               {"median_ms", medians},
               {"uncertainty", uncertainty},
               {"raised_ms", raised},
               {"common_rounds", a[RungName::library].common_rounds}};
  if (!a.ended.empty()) summary["ended_plans"] = ended_json(a.ended);
  if (a.quietest) summary["quietest_session"] = quietest_json(*a.quietest);
  if (!provisional.empty()) summary["provisional"] = std::move(provisional);
  if (!floor_share.empty()) summary["floor_share"] = std::move(floor_share);
  if (!saving.empty()) summary["saves_multiplications"] = std::move(saving);
  if (!a.floor_exceptions.empty()) summary["floor_exceptions"] = floor_exceptions_json(a);
  return summary;
}

}  // namespace report

namespace {

Json dead_work_json(const Analysis& a) {
  Json result = Json::array();
  for (const auto& work : a.dead)
    result.push_back({{"flops", number(work.flops.value)}, {"readers", work.readers}, {"nodes", work.nodes}});
  return result;
}

Json model_json(const Analysis& a) {
  Json result = summary_json(a), rows = Json::array();
  for (const auto& row : a.rows) rows.push_back(row_json(row));
  result["rows"] = rows;
  if (!a.dead.empty()) result["dead_work"] = dead_work_json(a);
  for (const auto& row : a.bound_rows) result["bound_rows"].push_back(row_json(row));
  for (const auto& [key, time] : a.reference) result["reference_ms"][key] = ms(time);
  return result;
}

}  // namespace

void write_json(std::ostream& out, const BoundReport& report) {
  Json machine = machine_json(report.machine);
  if (!report.declared.empty()) machine["declared"] = report.declared;
  machine["backends"] = backends_json(report.backends);
  for (const auto& backend : report.missing_backends)
    machine["missing_backends"].push_back({{"name", backend.name}, {"needs", backend.needs}});
  machine["warnings"] = report.warnings;
  if (!report.models.empty()) {
    machine["peaks"] = peaks_json(report.models.front().ceilings);
    machine["reached_by"] = reached_by_json(report.models.front().ceilings);
    machine["timer_floor_ns"] = number(report.models.front().ceilings.timer_floor.value * 1e9);
  }
  Json models = Json::array();
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    models.push_back(model_json(report.models[i]));
    if (report.training) models.back()["answers"] = bound_answers(report.models[i]);
    if (i < report.witnesses.size()) add_witness(models.back(), report.witnesses[i], report.models[i]);
  }
  Json document{{"schema", 1}, {"machine", machine}, {"models", models}};
  if (!report.sweeps.empty()) document["sweeps"] = sweeps_json(report.sweeps);
  write(out, document);
}

void write_json(std::ostream& out, const PlansReport& report) {
  Json machine = machine_json(report.machine);
  machine["backends"] = backends_json(report.backends);
  Json layers = Json::array();
  for (const auto& layer : report.layers)
    layers.push_back({{"signature", layer.signature},
                      {"floor_ms", ms(layer.direct_floor)},
                      {"least_floor_ms", ms(layer.least_floor)},
                      {"plans", candidates_json(layer.candidates)}});
  write(out, {{"schema", 1}, {"machine", machine}, {"layers", layers}});
}

void write_json(std::ostream& out, const LayersReport& report) {
  Json models = Json::array();
  for (const auto& m : report.models) {
    const auto known = [&m](Json value) { return m.open.empty() ? value : Json(); };
    models.push_back({{"model", m.model},
                      {"file", m.file},
                      {"batch", m.batch},
                      {"dims", m.dims},
                      {"assumed", m.assumed},
                      {"open", m.open},
                      {"partial", !m.unknown.empty() || !m.open.empty()},
                      {"layers", m.layers},
                      {"unique_layers", m.unique_layers},
                      {"groups", m.groups},
                      {"free", m.free},
                      {"opaque", m.opaque},
                      {"flops", known(number(m.flops.value))},
                      {"macs", known(m.macs)},
                      {"bytes", known(number(m.bytes.value))},
                      {"weight_bytes", number(m.weights.value)},
                      {"unknown", m.unknown}});
  }
  Json layers = Json::array();
  for (const auto& [signature, unique] : report.layers.layers()) {
    const Cost c = cost(unique.layer);
    Json users = Json::array();
    for (const auto& user : unique.users)
      users.push_back({{"model", user.model}, {"count", user.count}, {"node", user.node}});
    layers.push_back({{"signature", signature.text()},
                      {"count", unique.count()},
                      {"users", users},
                      {"macs", c.macs},
                      {"flops", number(c.flops.value)},
                      {"bytes", number(c.bytes().value)},
                      {"intensity", number(c.intensity())}});
  }
  for (const auto& layer : report.symbolic)
    layers.push_back(
        {{"signature", layer.signature},
         {"count", layer.user.count},
         {"users",
          Json::array({{{"model", layer.user.model}, {"count", layer.user.count}, {"node", layer.user.node}}})},
         {"macs", nullptr},
         {"flops", nullptr},
         {"bytes", nullptr},
         {"intensity", nullptr}});
  Json document{{"schema", 1},
                {"signature_version", signature_version},
                {"layers_total", report.total()},
                {"layers_unique", report.unique()},
                {"models", models},
                {"layers", layers}};
  if (report.known) document["known"] = known_layers_json(*report.known);
  write(out, document);
}

void write_json(std::ostream& out, const MachineReport& report) {
  Json machine = machine_json(report.machine);
  Json backends = Json::array();
  for (const auto& backend : report.backends)
    backends.push_back({{"name", backend.name},
                        {"version", backend.version},
                        {"available", backend.unavailable.empty()},
                        {"reason", backend.unavailable}});
  machine["backends"] = backends;
  machine["warnings"] = report.warnings;
  Json ceilings = Json::array();
  for (const auto& row : report.ceilings)
    ceilings.push_back({{"quantity", row.quantity.text()},
                        {"threads", row.threads},
                        {"value", number(row.value)},
                        {"algorithm", row.algorithm},
                        {"in_front_bytes", whole(row.in_front_bytes)}});
  write(out, {{"schema", 1}, {"machine", machine}, {"ceilings", ceilings}});
}

}  // namespace benanza
