// SPDX-License-Identifier: Apache-2.0
// The fused layer graphs in the dot language; `dot -Tsvg` draws them:
//
//   digraph "resnet50" {
//     l0 [label="Conv 1x3x224x224, 64 of 7x7/2, +bias +relu
// 1.21 ms", color="#c73e3a", penwidth=2.5, ...];
//     l0 -> l1 [color="#c73e3a", penwidth=2.5];
//
// The critical path of the parallel rung is red. The fill shows a layer's share of the time. A dashed edge is an
// operand that delays only the end.
#include "format/numbers.hpp"
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace benanza {

using namespace format;

namespace {

constexpr const char* red = "\"#c73e3a\", penwidth=2.5";
constexpr const char* gray = "\"#8593a3\"";

std::string words_of(const TimedLayer& layer, const Analysis& a) {
  if (layer.calls.empty()) return "free";
  std::string text = dot_text(describe(parse_layer(a.rows[layer.calls.front().row].signature)), 80);
  if (layer.calls.size() > 1) text += fmt::format(" and {} more", layer.calls.size() - 1);
  return text;
}

void write_node(std::ostream& out, std::size_t model, std::size_t i, const TimedLayer& layer, const Analysis& a,
                Seconds longest) {
  const Seconds time = layer.time() * static_cast<double>(layer.repeat);
  const double share = longest.value > 0 ? time / longest : 0;
  out << fmt::format("    m{}l{} [label=\"{}\\n{}{}\", tooltip=\"{}\", fillcolor=\"0.58 {:.3f} 1\", color={}{}];\n",
                     model, i, words_of(layer, a), time_text(time),
                     layer.repeat > 1 ? fmt::format(" in {} passes", layer.repeat) : "", dot_text(layer.name, 200),
                     0.55 * std::sqrt(std::clamp(share, 0.0, 1.0)), layer.critical ? red : gray,
                     layer.runs ? "" : ", style=\"rounded,dotted\"");
}

void write_model(std::ostream& out, std::size_t model, const Analysis& a) {
  const auto graph =
      std::find_if(a.graphs.begin(), a.graphs.end(), [](const auto& g) { return g.form == Form::fused; });
  if (graph == a.graphs.end()) return;
  const Rung& parallel = a[RungName::library_fused_parallel];
  out << fmt::format("  subgraph cluster_{} {{\n    label=\"{}: library fused parallel {}\";\n", model,
                     dot_text(a.model, 80), parallel.bound ? time_text(*parallel.bound) : "unknown");
  Seconds longest{};
  for (const auto& layer : graph->layers) longest = std::max(longest, layer.time() * static_cast<double>(layer.repeat));
  for (std::size_t i = 0; i < graph->layers.size(); ++i) write_node(out, model, i, graph->layers[i], a, longest);
  for (std::size_t i = 0; i < graph->layers.size(); ++i)
    for (const auto& p : graph->layers[i].predecessors) {
      const bool critical = graph->layers[i].critical && graph->layers[p.from].critical;
      out << fmt::format("    m{}l{} -> m{}l{} [color={}{}];\n", model, p.from, model, i, critical ? red : gray,
                         p.late ? ", style=dashed" : "");
    }
  out << "  }\n";
}

}  // namespace

void write_dot(std::ostream& out, const BoundReport& report) {
  out << "digraph benanza {\n"
         "  graph [fontname=\"Helvetica\", labelloc=t, color=\"#e1e5ea\", ranksep=0.3];\n"
         "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
         "  edge [arrowsize=0.6];\n";
  for (std::size_t i = 0; i < report.models.size(); ++i) write_model(out, i, report.models[i]);
  out << "}\n";
}

}  // namespace benanza
