// SPDX-License-Identifier: Apache-2.0
// What `analyze` computes.
#pragma once

#include <benanza/base/detail/duration.hpp>
#include <benanza/base/detail/saturated.hpp>
#include <benanza/bounds/analyze.hpp>
#include <benanza/bounds/detail/analytic_rungs.hpp>
#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/ladder.hpp>
#include <benanza/bounds/detail/ladder_input.hpp>
#include <benanza/bounds/detail/layer_rows.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/detail/row_times.hpp>
#include <benanza/bounds/detail/timed_graph.hpp>
#include <benanza/impl/inline.hpp>
#include <benanza/model/model_layers.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

namespace detail {

/// For each If, the times of its branches in the `library` rung, the cheapest of which is in the bound.
inline std::vector<std::string> choices(const LayerGraph& graph, const FormPlan& plan) {
  const ResolvedChoices resolved = taken_branches(graph, plan);
  std::vector<std::string> result;
  for (std::size_t c = 0; c < graph.choices.size(); ++c) {
    const Choice& choice = graph.choices[c];
    std::string text = "'" + choice.node + "' (If):";
    for (std::size_t b = 0; b < choice.labels.size(); ++b) {
      text += (b ? ", " : " ") + choice.labels[b] + " " + duration_text({resolved.totals[c][b]});
      if (b == resolved.taken[c]) text += " (in the bound)";
    }
    result.push_back(text);
  }
  return result;
}

/// What may be counted too high, without layers in branches of an If that the bound does not take.
inline std::vector<FloorException> exceptions_in_bound(const LayerGraph& graph, const FormPlan& plan) {
  std::vector<FloorException> result = graph.exceptions;
  if (graph.choices.empty() || result.empty()) return result;
  const ResolvedChoices taken = taken_branches(graph, plan);
  std::set<std::string_view> left_out;
  for (const Occurrence& at : graph.layers)
    if (!runs(at, taken)) left_out.insert(at.nodes.begin(), at.nodes.end());
  std::erase_if(result, [&](const FloorException& each) { return left_out.contains(each.node); });
  return result;
}

/// Critical path at expected times.
inline CriticalPath expected_path(const LayerGraph& graph, const FormPlan& plan) {
  std::vector<double> amounts;
  for (const auto& parts : plan.parts) {
    Seconds sum{};
    for (const auto& part : parts) sum += part.time(Figure::expected);
    amounts.push_back(sum.value);
  }
  return longest(graph, amounts);
}

/// Critical path at analytic times without weights; for the fused form that of `roofline_parallel`.
inline CriticalPath floor_path(const LayerGraph& graph, const FormPlan& plan) {
  return longest(graph, times_of(plan.floors, &OccurrenceFloors::without_weights));
}

inline bool same_calls(const FormPlan& a, const FormPlan& b) {
  const auto same = [](const std::vector<Part>& x, const std::vector<Part>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const Part& p, const Part& q) { return p.signature() == q.signature(); });
  };
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same);
}

inline void add_signatures(const LayerGraph& graph, std::set<std::string>& needed) {
  for (const auto& layer : graph.layers) {
    if (!is_free(layer.layer)) needed.insert(layer.layer.signature().text());
    for (const auto& piece : layer.pieces) needed.insert(piece.layer.signature().text());
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
  result.machine = results.machine();
  result.threads = options.threads > 0 ? options.threads : result.machine.cores;
  result.ceilings = results.ceilings(result.threads);

  std::set<std::string> needed;
  if (!options.analytic)
    for (const auto* form : {&model.single, &model.fused}) add_signatures(*form, needed);
  const RowTimes times = options.analytic ? RowTimes("nothing is measured: the analytic rungs alone")
                                          : RowTimes(results, needed, result.threads, options.backends);
  const bool device = result.machine.is_device();
  const FloorInput floors{result.ceilings, options.direct};
  const FormPlans bound_plans = plan_forms(model, times, floors, Figure::bound);
  std::optional<FormPlans> with_launches;
  if (device) with_launches = plan_forms(model, times, floors, Figure::expected);
  const FormPlans& plans = with_launches ? *with_launches : bound_plans;

  std::set<std::string_view> unique;
  std::map<DataType, double> by_type;
  for (const auto& at : model.single.layers) {
    const Cost c = cost(at.layer);
    const auto repeat = static_cast<double>(at.repeat);
    unique.insert(at.layer.signature().text());
    add_saturated(result.layers, at.repeat);
    add_saturated(result.macs, saturated_product(c.macs, at.repeat));
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
  result.floor_exceptions = exceptions_in_bound(model.single, bound_plans.single);
  result.coverage = coverage(model.single, plans.single);
  result.coverage_fused = coverage(model.fused, plans.fused);

  const LadderInput in{model, bound_plans, plans, times, result.ceilings, result.threads, device};
  result.rungs = ladder(in);
  result.direct_floor = direct_floor(in);
  result.choices = choices(model.single, bound_plans.single);

  const auto add_missing = [&](const std::string& signature) {
    const std::string reason = times.untimed().reason(signature);
    const std::string text = reason.empty() ? signature : signature + ": " + reason;
    if (std::find(result.missing.begin(), result.missing.end(), text) == result.missing.end())
      result.missing.push_back(text);
  };
  for (const auto* form : {&model.single, &model.fused}) {
    const FormPlan& plan = form == &model.single ? plans.single : plans.fused;
    const CriticalPath path = expected_path(*form, plan);
    std::vector<LayerRow> rows = make_rows(*form, model.single, plan, times, result.ceilings, path);
    result.rows.reserve(result.rows.size() + rows.size());
    for (auto& row : rows) {
      if (row.status == Status::missing) add_missing(row.signature);
      result.rows.push_back(std::move(row));
    }
    result.graphs.push_back(timed_graph(*form, plan, result.rows, path, floor_path(*form, plan)));
  }
  if (!same_calls(plans.fused, bound_plans.fused))
    result.bound_rows = make_rows(model.fused, model.single, bound_plans.fused, times, result.ceilings,
                                  expected_path(model.fused, bound_plans.fused));
  if (options.candidates) {
    const auto all = results.newest_rows();
    for (auto& row : result.rows)
      if (const auto found = all.find(row.signature); found != all.end()) row.candidates = found->second;
  }
  for (const auto& signature : needed) {
    const auto ended = times.untimed().ended(signature, times.find(signature));
    result.ended.insert(result.ended.end(), ended.begin(), ended.end());
  }
  result.quietest = times.session().quietest;
  for (const auto& signature : plans.fused.untried) add_missing(signature);
  for (const auto& text : model.single.unknown) result.missing.push_back(text);
  return result;
}

}  // namespace benanza
