// SPDX-License-Identifier: Apache-2.0
// The fused layer graph of a gap in the dot language. The fill shows a group's share of the engine's excess (orange) or
// gain (green) compared with the bound; grey groups have no record of their own; the critical path of the bound is red.
#include "format/numbers.hpp"
#include <benanza/report/gap_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

namespace benanza {

using namespace format;

namespace {

std::string fill_of(const GapGroup* group, Seconds most) {
  if (!group) return "0 0 0.93";
  const double share = most.value > 0 ? std::sqrt(std::min(1.0, std::fabs(group->excess().value) / most.value)) : 0;
  return fmt::format("{} {:.3f} 1", group->excess().value > 0 ? "0.08" : "0.33", 0.7 * share);
}

}  // namespace

void write_dot(std::ostream& out, const GapReport& report) {
  const Analysis& a = report.bound.models.front();
  out << "digraph gap {\n"
         "  graph [fontname=\"Helvetica\", labelloc=t, color=\"#e1e5ea\", ranksep=0.3];\n"
         "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
         "  edge [arrowsize=0.6];\n";
  out << fmt::format("  label=\"{}: {} {}, {} {}\";\n", dot_text(a.model, 80), dot_text(report.gap.engine, 40),
                     report.gap.latency ? time_text(*report.gap.latency) : "unknown",
                     enum_names(report.gap.rung)[static_cast<std::size_t>(report.gap.rung)],
                     report.gap.bound ? time_text(*report.gap.bound) : "unknown");
  const auto graph =
      std::find_if(a.graphs.begin(), a.graphs.end(), [](const auto& g) { return g.form == Form::fused; });
  std::map<std::size_t, const GapGroup*> group_of;
  Seconds most{};
  for (const auto& group : report.gap.groups) {
    for (const auto layer : group.layers) group_of[layer] = &group;
    most = std::max(most, Seconds{std::fabs(group.excess().value)});
  }
  if (graph == a.graphs.end()) {
    out << "}\n";
    return;
  }
  for (std::size_t i = 0; i < graph->layers.size(); ++i) {
    const TimedLayer& layer = graph->layers[i];
    const auto found = group_of.find(i);
    const GapGroup* group = found == group_of.end() ? nullptr : found->second;
    const Seconds time = layer.time() * static_cast<double>(layer.repeat);
    std::string label =
        layer.calls.empty() ? "free" : dot_text(describe(parse_layer(a.rows[layer.calls.front().row].signature)), 80);
    label += "\\nbound " + time_text(time);
    if (group)
      label += "\\nengine " + time_text(group->engine) +
               (group->layers.size() > 1 ? fmt::format(" for {} groups", group->layers.size()) : "");
    out << fmt::format("  l{} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\", color=\"{}\"{}];\n", i, label,
                       dot_text(layer.name, 200), fill_of(group, most), layer.critical ? "#c73e3a" : "#8593a3",
                       layer.critical ? ", penwidth=2.5" : "");
  }
  for (std::size_t i = 0; i < graph->layers.size(); ++i)
    for (const auto& p : graph->layers[i].predecessors)
      out << fmt::format("  l{} -> l{} [color=\"{}\"{}];\n", p.from, i,
                         graph->layers[i].critical && graph->layers[p.from].critical ? "#c73e3a" : "#8593a3",
                         p.late ? ", style=dashed" : "");
  out << "}\n";
}

}  // namespace benanza
