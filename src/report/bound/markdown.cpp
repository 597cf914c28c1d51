// SPDX-License-Identifier: Apache-2.0
// Reports as tables in GitHub's Markdown, for an issue or a pull request:
//
//   ### resnet50
//   batch 1, f32, 2 threads
//
//   | rung | time | ± | |
//   | --- | ---: | --- | --- |
//   | model floor | 20.7 ms |  |  |
//   | **library fused resident** | **30.3 ms** | ± 3.7 % | W |
#include "format/markdown_table.hpp"
#include "ladder_notes.hpp"
#include "report/table_parts.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/gap_report.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace benanza {

using namespace format;

namespace {

using namespace report;

/// A line of its own.
void write_note(std::ostream& out, const std::string& text) {
  if (!text.empty()) out << '\n' << cell(text) << '\n';
}

void write_ladder(std::ostream& out, const Analysis& a) {
  write_markdown_head(out, {"rung", ">time", "±", ""});
  for (std::size_t i = 0; i < rung_count; ++i) {
    const auto rung_name = static_cast<RungName>(i);
    const Rung& rung = a.rungs[i];
    if (rung_name == RungName::roofline_memory || (a.analytic && !rung.bound)) continue;
    const std::string marks = rung.median ? marks_of(rung) : "";
    write_markdown_row(out,
                       {rung_words(rung_name), rung.bound ? time_text(*rung.bound) : "unknown",
                        rung.bound && rung.median ? interval_of(rung) : "", marks.empty() ? "" : marks.substr(1)},
                       rung_name == a.headline());
  }
}

void write_rows(std::ostream& out, const Analysis& a, const TableOptions& options) {
  std::vector<const LayerRow*> fused;
  Seconds total{};
  for (const auto& row : a.rows)
    if (row.form == Form::fused) {
      fused.push_back(&row);
      total += row.total();
    }
  if (fused.empty()) return;
  out << '\n';
  write_markdown_head(out, {">share", ">time", ">count", ">of roof", "layer", "plan"});
  const std::size_t shown = shown_rows(fused.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerRow& row = *fused[i];
    const auto roof = row.of_roofline();
    write_markdown_row(out, {total.value > 0 ? fmt::format("{:.1f} %", 100 * (row.total() / total)) : "",
                             time_text(row.total()), fmt::format("{}", row.count),
                             roof ? fmt::format("{:.0f} %", 100 * *roof) : "", describe(parse_layer(row.signature)),
                             row.chosen ? row.chosen->backend + " " + row.chosen->algorithm
                                        : std::string(enum_names(row.status)[static_cast<std::size_t>(row.status)])});
  }
  write_markdown_more(out, shown, fused.size());
}

std::string conditions_of(const Analysis& a, const Machine& machine) {
  std::string text = fmt::format("{}, {}", sizes(a.batch, a.dims), name(a.type));
  if (!a.analytic && !machine.is_device()) text += fmt::format(", {} thread{}", a.threads, a.threads == 1 ? "" : "s");
  return text + (machine.device.empty() ? "" : ", " + machine.device);
}

/// The records of a CSV text, of which no field has a line break.
std::vector<std::vector<std::string>> csv_records(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  bool quoted = false, begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (begins) records.push_back({""});
    begins = c == '\n' && !quoted;
    if (begins) continue;
    std::string& field = records.back().back();
    if (c == '"' && quoted && text.substr(i + 1).starts_with('"')) field += text[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) records.back().emplace_back();
    else field += c;
  }
  return records;
}

}  // namespace

std::string markdown_of_csv(std::string_view csv) {
  const auto records = csv_records(csv);
  std::ostringstream out;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (i == 0) write_markdown_head(out, records[i]);
    else write_markdown_row(out, records[i]);
  return std::move(out).str();
}

void write_markdown(std::ostream& out, const BoundReport& report, const TableOptions& options) {
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const Analysis& a = report.models[i];
    out << (i > 0 ? "\n" : "") << "### " << cell(a.model) << "\n\n" << cell(conditions_of(a, report.machine)) << "\n\n";
    write_ladder(out, a);
    if (a.partial())
      write_note(out, fmt::format("partial: the bounds lack {} result{}, first {}", a.missing.size(),
                                  a.missing.size() == 1 ? "" : "s", a.missing.front()));
    out << '\n';
    for (const auto& note : report::ladder_notes(a)) out << "- " << cell(note) << '\n';
    write_rows(out, a, options);
  }
}

void write_markdown(std::ostream& out, const LayersReport& report, const TableOptions& options) {
  write_markdown_head(out, {"model", ">layers", ">unique", ">groups", ">MACs", ">weights"});
  for (const auto& m : report.models)
    write_markdown_row(
        out, {m.model, fmt::format("{}", m.layers), fmt::format("{}", m.unique_layers), fmt::format("{}", m.groups),
              m.open.empty() ? scaled(static_cast<double>(m.macs)) : "unknown", scaled(m.weights.value) + "B"});
  out << '\n';
  std::vector<const UniqueLayer*> unique;
  for (const auto& [signature, layer] : report.layers.layers()) unique.push_back(&layer);
  const auto flops = [](const UniqueLayer* layer) {
    return cost(layer->layer).flops.value * static_cast<double>(layer->count());
  };
  std::stable_sort(unique.begin(), unique.end(),
                   [&](const UniqueLayer* a, const UniqueLayer* b) { return flops(a) > flops(b); });
  write_markdown_head(out, {">count", ">models", ">FLOPs", ">bytes", "layer"});
  const std::size_t shown = shown_rows(unique.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const Cost c = cost(unique[i]->layer);
    write_markdown_row(out, {fmt::format("{}", unique[i]->count()), fmt::format("{}", unique[i]->users.size()),
                             scaled(c.flops.value), scaled(c.bytes().value) + "B", describe(unique[i]->layer)});
  }
  for (const auto& layer : report.symbolic)
    write_markdown_row(out, {fmt::format("{}", layer.user.count), "1", "", "", layer.words});
  write_markdown_more(out, shown, unique.size());
}

void write_markdown(std::ostream& out, const GapReport& report, const TableOptions& options) {
  const Gap& gap = report.gap;
  const auto ms = [](std::optional<Seconds> time) { return time ? time_text(*time) : "unknown"; };
  out << "### " << cell(gap.model) << "\n\n"
      << cell(conditions_of(report.bound.models.front(), report.bound.machine)) << "\n\n";
  write_markdown_head(out, {"", ">time", "±", ">ratio"});
  write_markdown_row(out, {"measured", ms(gap.latency), "", ""}, true);
  for (const auto& part : gap.parts)
    write_markdown_row(out, {std::string(describe(part.cause)),
                             (part.time.value < 0 ? "+ " : "- ") + time_text({std::fabs(part.time.value)}),
                             part.uncertainty ? "± " + time_text(*part.uncertainty) : "", ""});
  for (const RungRatio& each : gap.ratios)
    if (each.bound && (each.rung == gap.rung || each.rung == RungName::model_floor))
      write_markdown_row(out,
                         {rung_words(each.rung), time_text(*each.bound),
                          each.rung == gap.rung && gap.floor_share <= most_floor_share && gap.bound_uncertainty > 0
                              ? plus_minus(gap.bound_uncertainty)
                              : "",
                          each.ratio ? fmt::format("{:.2f}", *each.ratio) : ""},
                         each.rung == gap.rung);
  if (const auto share = gap.explained()) write_note(out, fmt::format("explained: {:.0f} % of the gap", 100 * *share));
  for (const std::string& text : {gap.outside, gap.total_only}) write_note(out, text);
  if (gap.advice.empty()) return;
  out << '\n';
  write_markdown_head(out, {">", "advice", ">saves", "how"});
  const std::size_t shown = shown_rows(gap.advice.size(), options);
  for (std::size_t i = 0; i < shown; ++i)
    write_markdown_row(
        out, {fmt::format("{}", i + 1), gap.advice[i].text, time_text(gap.advice[i].gain), gap.advice[i].how});
  write_markdown_more(out, shown, gap.advice.size());
}

}  // namespace benanza
