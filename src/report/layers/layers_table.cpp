// SPDX-License-Identifier: Apache-2.0
// The models and unique layers of a set, for a terminal of 80 columns.
#include "format/numbers.hpp"
#include "format/text.hpp"
#include "known_layers_views.hpp"
#include "report/table_parts.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace benanza {

using namespace format;

namespace {

using namespace report;

constexpr std::size_t layers_shown = 20;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void write_layers(std::ostream& out, const LayerSet& layers, const TableOptions& options, std::size_t width) {
  std::vector<const UniqueLayer*> unique;
  for (const auto& [signature, layer] : layers.layers()) unique.push_back(&layer);
  if (!options.all)
    std::stable_sort(unique.begin(), unique.end(), [](const UniqueLayer* a, const UniqueLayer* b) {
      return cost(a->layer).flops.value * static_cast<double>(a->count()) >
             cost(b->layer).flops.value * static_cast<double>(b->count());
    });
  const std::size_t shown = options.all ? unique.size() : std::min<std::size_t>(unique.size(), layers_shown);
  out << fmt::format("{:>6} {:>6} {:>9} {:>9} {:>8}  {}\n", "count", "models", "FLOPs", "bytes", "FLOP/B",
                     options.all ? "signature" : "layer (by FLOPs over the set)");
  for (std::size_t i = 0; i < shown; ++i) {
    const Cost c = cost(unique[i]->layer);
    const std::string text =
        options.all ? signature(unique[i]->layer).text() : clipped(describe(unique[i]->layer), width - 44);
    out << fmt::format("{:>6} {:>6} {:>9} {:>9} {:>8.1f}  {}\n", unique[i]->count(), unique[i]->users.size(),
                       scaled(c.flops.value), scaled(c.bytes().value), c.intensity(), text);
  }
  if (shown < unique.size()) out << fmt::format("({} more: --all)\n", unique.size() - shown);
}

void write_symbolic(std::ostream& out, const std::vector<SymbolicLayer>& layers, const TableOptions& options,
                    std::size_t width) {
  const std::size_t shown = options.all ? layers.size() : std::min<std::size_t>(layers.size(), layers_shown);
  out << fmt::format("{:>6}  {:<20}  {}\n", "count", "model",
                     options.all ? "signature" : "layer (in the file's order)");
  for (std::size_t i = 0; i < shown; ++i)
    out << fmt::format("{:>6}  {:<20}  {}\n", layers[i].user.count, clipped(layers[i].user.model, 20),
                       options.all ? layers[i].signature : clipped(layers[i].words, width - 30));
  if (shown < layers.size()) out << fmt::format("({} more: --all)\n", layers.size() - shown);
}

}  // namespace

void write_table(std::ostream& out, const LayersReport& report, const TableOptions& options) {
  out << fmt::format("{:<28} {:>7} {:>7} {:>7} {:>6} {:>10} {:>9}\n", "model", "layers", "unique", "share", "groups",
                     "MACs", "weights");
  const auto is_swept = [&report](const ModelSummary& m) {
    return std::any_of(report.models.begin(), report.models.end(), [&m](const ModelSummary& other) {
      return other.file == m.file && (other.batch != m.batch || other.dims != m.dims);
    });
  };
  for (const auto& m : report.models) {
    if (is_swept(m)) out << sizes(m.batch, m.dims) << ":\n";
    out << fmt::format(
        "{:<28} {:>7} {:>7} {:>6.1f}% {:>6} {:>10} {:>9}\n", clipped(m.model, 28), m.layers, m.unique_layers,
        m.layers ? 100.0 * static_cast<double>(m.unique_layers) / static_cast<double>(m.layers) : 0.0, m.groups,
        m.open.empty() ? scaled(static_cast<double>(m.macs)) : "unknown", scaled(m.weights.value) + "B");
    for (const auto& text : m.unknown) out << paragraph("partial: " + clipped(text, 300), width_of(options), 2);
    if (!m.open.empty())
      out << paragraph("FLOPs unknown: " + clipped(listed(m.open), 300) + " not bound", width_of(options), 2);
  }
  const auto total = report.total();
  out << strong(
             fmt::format("{:<28} {:>7} {:>7} {:>6.1f}%", plural(report.models.size(), "model"), total, report.unique(),
                         total ? 100.0 * static_cast<double>(report.unique()) / static_cast<double>(total) : 0.0),
             options)
      << "\n\n";
  if (report.known) {
    write_known_layers(out, report);
    out << '\n';
  }

  const auto width = width_of(options);
  if (report.layers.size() > 0 || report.symbolic.empty()) write_layers(out, report.layers, options, width);
  if (report.layers.size() > 0 && !report.symbolic.empty()) out << '\n';
  if (!report.symbolic.empty()) write_symbolic(out, report.symbolic, options, width);
}

}  // namespace benanza
