// SPDX-License-Identifier: Apache-2.0
// The page's data. A set of models repeats its layers: each text is stored once in `texts`, rows are arrays of numbers
// in the order of `row_columns`, and numbers of rows have six digits.
#include "json.hpp"
#include "row_kernels.hpp"
#include <benanza/version.hpp>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace benanza::report {

using namespace format;

namespace {

/// Texts by number, in the order of their first use.
class Texts {
 public:
  std::size_t operator()(std::string_view text) {
    const auto [at, added] = places_.try_emplace(std::string(text), places_.size());
    if (added) list_.push_back(at->first);
    return at->second;
  }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_{};
  Json list_ = Json::array();
};

/// Rounds to six significant digits.
Json six(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  const double rounded = std::strtod(text, nullptr);
  if (rounded == std::floor(rounded) && std::fabs(rounded) < 1e15) return static_cast<std::int64_t>(rounded);
  return rounded;
}
Json six_ms(Seconds time) { return six(time.value * 1e3); }

template <class E>
Json names_of() {
  Json result = Json::array();
  for (const auto name : enum_names(E{})) result.push_back(name);
  return result;
}

/// `[["convolution", ["Conv", ...]], ...]`, in the order of Family.
Json families_json() {
  Json result = Json::array();
  for (const auto words : enum_names(Family{})) result.push_back({words, Json::array()});
  for_each_operator(
      [&]<class Op>(std::type_identity<Op>) { result[static_cast<std::size_t>(Op::family)][1].push_back(Op::kind); });
  return result;
}

struct Column {
  const char* name;
  bool is_text;
};
constexpr Column columns[] = {{"form", false},     {"words", true},      {"signature", true},  {"count", false},
                              {"status", false},   {"backend", true},    {"algorithm", true},  {"cache", false},
                              {"p10_ms", false},   {"median_ms", false}, {"cv", false},        {"samples", false},
                              {"flags", false},    {"floor_ms", false},  {"flops", false},     {"bytes", false},
                              {"critical", false}, {"reason", true},     {"cold_ms", false},   {"cold_algorithm", true},
                              {"untried", false},  {"not_taken", false}, {"candidates", false}};

/// For each kernel, its name, a line for its geometry, and a line for its counters.
Json kernel_lines(const std::vector<KernelLaunch>& kernels, Texts& texts) {
  Json result = Json::array();
  for (const auto& kernel : kernels)
    result.push_back({texts(kernel.name), texts(launch_text(kernel)), texts(counters_text(kernel))});
  return result;
}

/// Backend, algorithm, cache state, time of a call or null, why it does not count, kernels, whether the library
/// advises it.
Json candidates_json(const std::vector<Measurement>& candidates, Texts& texts) {
  Json result = Json::array();
  for (const auto& candidate : candidates)
    result.push_back({texts(candidate.backend), texts(candidate.algorithm), candidate.cache,
                      candidate.measured() ? six_ms(candidate.times->p10) : Json(nullptr), texts(candidate.reason),
                      kernel_lines(candidate.kernel_launches, texts), candidate.advised ? 1 : 0});
  return result;
}

Json row_json(const LayerRow& row, Texts& texts) {
  const bool measured = row.chosen.has_value();
  const auto of_measured = [&](auto&& value) { return measured ? Json(value(*row.chosen)) : Json(nullptr); };
  return {row.form,
          texts(describe(parse_layer(row.signature))),
          texts(row.signature),
          row.count,
          row.status,
          of_measured([&](const Measurement& m) { return texts(m.backend); }),
          of_measured([&](const Measurement& m) { return texts(m.algorithm); }),
          of_measured([](const Measurement& m) { return m.cache; }),
          six_ms(row.p10),
          six_ms(row.median),
          of_measured([](const Measurement& m) { return m.times->cv ? Json(six(*m.times->cv)) : Json(); }),
          of_measured([](const Measurement& m) { return m.samples; }),
          of_measured([](const Measurement& m) {
            return (m.noisy ? 1 : 0) + (m.contended ? 2 : 0) + (m.saves_multiplications ? 4 : 0) +
                   (no_method_agrees(m) ? 8 : 0);
          }),
          six_ms(row.floor()),
          six(row.cost.flops.value),
          six(row.cost.bytes().value),
          row.critical ? 1 : 0,
          texts(row.reason),
          row.cold ? six_ms(row.cold->times->p10) : Json(nullptr),
          row.cold ? Json(texts(row.cold->backend + " " + row.cold->algorithm)) : Json(nullptr),
          row.untried,
          row.not_taken,
          candidates_json(row.candidates, texts)};
}

/// A late predecessor p is written as -p - 1.
Json graph_json(const TimedGraph& graph, Texts& texts) {
  Json names = Json::array(), calls = Json::array(), predecessors = Json::array(), times = Json::array(),
       floors = Json::array(), repeat = Json::object(), off = Json::array(), critical = Json::array(),
       critical_floor = Json::array();
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const TimedLayer& layer = graph.layers[i];
    names.push_back(texts(layer.name));
    Json rows = Json::array(), before = Json::array();
    for (const auto& call : layer.calls) rows.push_back(call.row);
    for (const auto& p : layer.predecessors) {
      const auto from = static_cast<std::int64_t>(p.from);
      before.push_back(p.late ? -from - 1 : from);
    }
    calls.push_back(rows);
    predecessors.push_back(before);
    times.push_back(six_ms(layer.time()));
    floors.push_back(six_ms(layer.floor));
    if (layer.repeat != 1 || layer.serial_repeat != 1) repeat[std::to_string(i)] = {layer.repeat, layer.serial_repeat};
    if (!layer.runs) off.push_back(i);
    if (layer.critical) critical.push_back(i);
    if (layer.critical_floor) critical_floor.push_back(i);
  }
  return {{"names", names},   {"calls", calls},       {"predecessors", predecessors},
          {"time_ms", times}, {"floor_ms", floors},   {"repeat", repeat},
          {"off", off},       {"critical", critical}, {"critical_floor", critical_floor}};
}

Json ceilings_json(const Ceilings& ceilings) {
  Json peaks = Json::object(), reached_by = Json::object(), levels = Json::array();
  for (const auto& [type, peak] : ceilings.peaks) peaks[std::string(name(type))] = number(peak.value);
  for (const auto& [type, row] : ceilings.reached_by) reached_by[std::string(name(type))] = row;
  for (const auto& level : ceilings.levels)
    levels.push_back({{"name", level.name},
                      {"in_front_bytes", whole(level.in_front.value)},
                      {"bytes_per_s", number(level.bandwidth.value)},
                      {"reached_by", level.reached_by}});
  return {{"peaks", peaks},
          {"reached_by", reached_by},
          {"levels", levels},
          {"timer_floor_ns", number(ceilings.timer_floor.value * 1e9)}};
}

Json model_json(const Analysis& a, Texts& texts) {
  Json result = summary_json(a), rows = Json::array(), graphs = Json::object();
  for (const auto& row : a.rows) rows.push_back(row_json(row, texts));
  for (const auto& graph : a.graphs)
    graphs[std::string(enum_names(graph.form)[static_cast<std::size_t>(graph.form)])] = graph_json(graph, texts);
  result["headline"] = enum_names(RungName{})[static_cast<std::size_t>(a.headline())];
  result["ceilings"] = ceilings_json(a.ceilings);
  result["rows"] = rows;
  result["graphs"] = graphs;
  return result;
}

}  // namespace

Json page_json(const BoundReport& report) {
  Texts texts;
  Json models = Json::array(), runs = Json::array(), names = Json::array(), text_names = Json::array();
  Json rungs = names_of<RungName>();
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    models.push_back(model_json(report.models[i], texts));
    if (report.training) models.back()["answers"] = bound_answers(report.models[i]);
    if (i < report.witnesses.size()) add_witness(models.back(), report.witnesses[i], report.models[i]);
  }
  if (!report.witnesses.empty()) {
    rungs.push_back("library_chained");
    rungs.push_back("witness");
  }
  for (const auto& run : report.runs)
    runs.push_back({{"name", run.name}, {"started", run.started}, {"tool", run.tool}, {"rows", run.rows}});
  Json machine = machine_json(report.machine);
  if (!report.declared.empty()) machine["declared"] = report.declared;
  for (const auto& column : columns) {
    names.push_back(column.name);
    if (column.is_text) text_names.push_back(column.name);
  }
  return {{"schema", 1},
          {"tool", version},
          {"machine", std::move(machine)},
          {"backends", backends_json(report.backends)},
          {"runs", runs},
          {"footer", report.footer},
          {"rungs", rungs},
          {"forms", names_of<Form>()},
          {"statuses", names_of<Status>()},
          {"caches", names_of<CacheState>()},
          {"families", families_json()},
          {"row_columns", names},
          {"row_texts", text_names},
          {"texts", texts.list()},
          {"models", models},
          {"sweeps", sweeps_json(report.sweeps)}};
}

}  // namespace benanza::report
