// SPDX-License-Identifier: Apache-2.0
// Makes the displayed graph of a form from its plan.
#pragma once

#include <benanza/bounds/detail/branches.hpp>
#include <benanza/bounds/detail/partition.hpp>
#include <benanza/bounds/timed_graph.hpp>
#include <benanza/model/model_layers.hpp>
#include <benanza/results/expected_time.hpp>

#include <map>
#include <span>
#include <string_view>

namespace benanza::detail {

/// The form's graph at expected times. `rows`: those of the whole analysis; each call names its row.
[[nodiscard]] TimedGraph timed_graph(const LayerGraph& graph, const FormPlan& plan, std::span<const LayerRow> rows,
                                     const CriticalPath& path, const CriticalPath& floor_path);

/// What is modelled counts as the work of one thread, as in the bound.
inline TimedCall timed_call(const Part& part, std::size_t row) {
  TimedCall call{.row = row, .fastest = {.time = part.floor}, .least_work = {.time = part.floor}};
  if (!part.best) return call;
  const auto timed = [](const Measurement& m) { return TimedPlan{expected_time(m), m.threads}; };
  call.fastest = timed(*part.best->expected.fastest);
  call.least_work = timed(*part.best->least_work);
  return call;
}

inline TimedGraph timed_graph(const LayerGraph& graph, const FormPlan& plan, std::span<const LayerRow> rows,
                              const CriticalPath& path, const CriticalPath& floor_path) {
  std::map<std::string_view, std::size_t> row_of;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].form == graph.form) row_of[rows[i].signature] = i;
  TimedGraph result{.form = graph.form};
  std::vector<double> amounts;
  result.layers.reserve(graph.layers.size());
  amounts.reserve(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Occurrence& at = graph.layers[i];
    const bool is_dead = !at.live.conditional && (!at.live.readers.empty() || at.live.flops <= 0);
    TimedLayer layer{.name = at.nodes.empty() ? "" : at.nodes.front(),
                     .nodes = static_cast<std::int64_t>(at.nodes.size()),
                     .predecessors = at.predecessors,
                     .repeat = at.repeat,
                     .serial_repeat = at.serial_repeat,
                     .critical = path.on_path[i],
                     .floor = plan.floors[i].without_weights,
                     .dead = is_dead ? 1 - at.live.flops : 0,
                     .needed_floor = plan.floors[i].needed,
                     .critical_floor = floor_path.on_path[i]};
    for (const auto& part : plan.parts[i]) layer.calls.push_back(timed_call(part, row_of.at(part.signature())));
    amounts.push_back(layer.time().value * static_cast<double>(at.repeat));
    result.layers.push_back(std::move(layer));
  }
  const ResolvedChoices choices = resolve(graph, amounts);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) result.layers[i].runs = runs(graph.layers[i], choices);
  return result;
}

}  // namespace benanza::detail
