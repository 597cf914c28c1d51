// SPDX-License-Identifier: Apache-2.0
// What `analyze` computes.
#pragma once

#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/detail/bounds.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/detail/stored_weights.hpp>
#include <benanza/bounds/detail/timed_graph.hpp>
#include <benanza/detail/quantile.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace benanza {

namespace detail {

/// The rows of one form: unique layers with the plans that are expected to be fastest, and the rows that bound them.
/// Members of `graph` are occurrences of `single`.
inline std::vector<LayerRow> make_rows(const LayerGraph& graph, const LayerGraph& single, const FormPlan& plan,
                                       const RowTimes& times, const Ceilings& ceilings, const CriticalPath& path) {
  std::map<std::string, LayerRow> rows;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Occurrence& at = graph.layers[i];
    for (const auto& part : plan.parts[i]) {
      auto [entry, added] = rows.try_emplace(part.signature);
      LayerRow& row = entry->second;
      if (added) {
        row.signature = part.signature;
        row.form = graph.form;
        row.cost = cost(part.layer);
        row.floor = layer_floor(part.layer, ceilings);
        row.status = part.status;
        row.reason = part.status == Status::measured ? "" : times.reason(part.signature);
        row.p10 = row.median = part.floor;
        row.untried = times.untried(part.signature);
        row.most_threads = times.most_threads(part.signature);
        row.lookup = lookup_bytes(part.layer);
        if (part.best) {
          const BestRows::Of &bound = part.best->bound, &expected = part.best->expected;
          row.chosen = *expected.fastest;
          if (bound.fastest != expected.fastest) row.bounding = *bound.fastest;
          if (expected.cold) row.cold = *expected.cold;
          row.median = expected_time(*expected.fastest);
          row.p10 = p10(*bound.fastest);
        }
      }
      const auto weights = part.status == Status::modelled ? std::nullopt : stored_weights(single, at, part);
      if (weights && (!row.weights || weights->stored < row.weights->stored)) row.weights = weights;
      row.count += at.repeat;
      if (part.node < at.nodes.size()) row.nodes.push_back(at.nodes[part.node]);
      row.critical = row.critical || path.on_path[i];
    }
  }
  std::vector<LayerRow> result;
  for (auto& [signature, row] : rows) result.push_back(std::move(row));
  std::stable_sort(result.begin(), result.end(),
                   [](const LayerRow& a, const LayerRow& b) { return a.total() > b.total(); });
  return result;
}

inline bool same_calls(const FormPlan& a, const FormPlan& b) {
  const auto same = [](const std::vector<Part>& x, const std::vector<Part>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Part& p, const Part& q) { return p.signature == q.signature; });
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same);
}

inline Coverage coverage(const LayerGraph& graph, const FormPlan& plan) {
  Coverage result;
  std::array<double, 4> time{}, flops{};
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const auto status = static_cast<std::size_t>(plan.status[i]);
    const auto repeat = static_cast<double>(graph.layers[i].repeat);
    result.count[status] += graph.layers[i].repeat;
    for (const auto& part : plan.parts[i]) {
      time[status] += repeat * part.time(Figure::expected).value;
      flops[status] += repeat * cost(part.layer).flops.value;
    }
  }
  double all_time = 0, all_flops = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    all_time += time[s];
    all_flops += flops[s];
  }
  for (std::size_t s = 0; s < 4; ++s) {
    result.time_share[s] = all_time > 0 ? time[s] / all_time : 0;
    result.flops_share[s] = all_flops > 0 ? flops[s] / all_flops : 0;
  }
  return result;
}

inline void add_signatures(const LayerGraph& graph, std::set<std::string>& needed) {
  for (const auto& layer : graph.layers) {
    if (!is_free(layer.layer)) needed.insert(text_of(layer.layer));
    for (const auto& piece : layer.pieces) needed.insert(text_of(piece.layer));
  }
}

}  // namespace detail

BENANZA_INLINE Analysis analyze(const ModelLayers& model, const ResultDatabase& results,
                                const AnalysisOptions& options) {
  using namespace detail;
  Analysis result{.model = model.single.model,
                  .file = model.single.file,
                  .batch = model.single.batch,
                  .dims = model.single.dims,
                  .assumed = model.single.assumed,
                  .analytic = options.analytic};
  const auto machines = results.machines();
  if (!machines.empty()) result.machine = machines.front();
  result.threads = options.threads > 0 ? options.threads : result.machine.cores;
  result.ceilings = results.ceilings(result.threads);

  std::set<std::string> needed;
  add_signatures(model.single, needed);
  add_signatures(model.fused, needed);
  const RowTimes times = options.analytic ? RowTimes("nothing is measured: the analytic rungs alone")
                                          : RowTimes(results, needed, result.threads, options.backends);
  const bool device = result.machine.is_device();
  const FormPlans bound_plans = plan_forms(model, times, result.ceilings, Figure::bound);
  std::optional<FormPlans> with_launches;
  if (device) with_launches = plan_forms(model, times, result.ceilings, Figure::expected);
  const FormPlans& plans = with_launches ? *with_launches : bound_plans;

  std::set<std::string> unique;
  std::map<DataType, double> by_type;
  for (const auto& at : model.single.layers) {
    const Cost c = cost(at.layer);
    const auto repeat = static_cast<double>(at.repeat);
    unique.insert(text_of(at.layer));
    result.layers += at.repeat;
    result.macs += c.macs * at.repeat;
    result.flops += c.flops * repeat;
    result.bytes += (at.read_weights + at.read_activations + at.written) * repeat;
    by_type[type(at.layer)] += repeat * static_cast<double>(c.macs);
  }
  for (const auto& [type, macs] : by_type)
    if (macs > by_type[result.type]) result.type = type;
  result.unique_layers = static_cast<std::int64_t>(unique.size());
  result.groups = std::count_if(model.fused.layers.begin(), model.fused.layers.end(),
                                [](const auto& at) { return !is_free(at.layer); });
  result.weights = model.single.weights;
  result.dead = model.single.dead;
  result.coverage = coverage(model.single, plans.single);
  result.coverage_fused = coverage(model.fused, plans.fused);

  const Bounds bounds{model, bound_plans, plans, times, result.ceilings, result.threads, device};
  result.rungs = bounds.ladder();
  if (result[RungName::model_floor].bound) result.memory_floor = bounds.model_memory_floor();
  if (options.analytic)
    for (auto& rung : result.rungs)
      if (rung.median) rung = {};  // only measured ones have a median
  result.choices = bounds.choices();

  const auto add_missing = [&](const std::string& signature) {
    const std::string reason = times.reason(signature);
    const std::string text = reason.empty() ? signature : signature + ": " + reason;
    if (std::find(result.missing.begin(), result.missing.end(), text) == result.missing.end())
      result.missing.push_back(text);
  };
  for (const auto* form : {&model.single, &model.fused}) {
    const FormPlan& plan = form == &model.single ? plans.single : plans.fused;
    const CriticalPath path = bounds.path(*form, plan);
    for (auto& row : make_rows(*form, model.single, plan, times, result.ceilings, path)) {
      if (row.status == Status::missing) add_missing(row.signature);
      for (const auto& measured : {row.chosen, row.bounding})
        if (measured && measured->saves_multiplications) result.exempt.push_back(measured->name());
      result.rows.push_back(std::move(row));
    }
    result.graphs.push_back(timed_graph(*form, plan, result.rows, path, bounds.floor_path(*form, plan)));
  }
  if (!same_calls(plans.fused, bound_plans.fused))
    result.bound_rows = make_rows(model.fused, model.single, bound_plans.fused, times, result.ceilings,
                                  bounds.path(model.fused, bound_plans.fused));
  if (options.candidates) {
    const auto all = results.newest_rows();
    for (auto& row : result.rows)
      if (const auto found = all.find(row.signature); found != all.end()) row.candidates = found->second;
  }
  for (const auto& signature : plans.fused.untried) add_missing(signature);
  for (const auto& text : model.single.unknown) result.missing.push_back(text);
  if (const auto& withheld = result[RungName::library].withheld; !withheld.empty())
    result.missing.push_back(withheld + ": measure again");
  return result;
}

}  // namespace benanza
