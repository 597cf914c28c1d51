// SPDX-License-Identifier: Apache-2.0
// How tables of `benanza db diff` write a comparison.
#pragma once

#include "format/numbers.hpp"
#include <benanza/model/layer_signature.hpp>
#include <benanza/report/db_report.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

[[nodiscard]] inline std::string change_text(const Comparison& comparison) {
  return comparison.change ? fmt::format("{:+.1f} %", 100 * *comparison.change) : "-";
}

[[nodiscard]] inline std::string noise_text(const Comparison& comparison) {
  return comparison.noise > 0 ? fmt::format("{:.1f} %", 100 * comparison.noise) : "-";
}

[[nodiscard]] inline std::string_view verdict_text(const Comparison& comparison) {
  return enum_names(Verdict{})[static_cast<std::size_t>(comparison.verdict)];
}

[[nodiscard]] inline std::string time_or_none(const std::optional<Measurement>& row) {
  return row ? format::time_text(timing_of(*row).median) : "-";
}

/// `28.7 ms ~`
[[nodiscard]] inline std::string time_or_none(const Rung& rung) {
  return (rung.median ? format::time_text(*rung.median) : "-") + (rung.provisional() ? " ~" : "");
}

/// Why the first provisional rung is provisional; empty if none is.
[[nodiscard]] inline std::string doubt_of(const std::vector<ModelChange>& models) {
  for (const auto& model : models)
    for (const auto& rung : model.rungs)
      for (const auto* side : {&rung.before, &rung.after})
        if (side->provisional()) return side->doubt;
  return {};
}

/// `layers: 3 slower, 2 faster, 1 unknown, 40 same (changes up to 3 % count as same)`
[[nodiscard]] inline std::string verdicts_text(const DbDiff& report) {
  std::array<std::size_t, 4> counts{};
  for (const auto& layer : report.diff.layers) ++counts[static_cast<std::size_t>(layer.comparison.verdict)];
  std::string text = "layers:";
  for (std::size_t i = 0; i < counts.size(); ++i)
    text += fmt::format("{} {} {}", i > 0 ? "," : "", counts[i], enum_names(Verdict{})[i]);
  return text + fmt::format(" (changes up to {:.3g} % count as same)", 100 * report.tolerance);
}

/// The layers that a table shows: those that changed or launch other kernels, or all.
[[nodiscard]] inline std::vector<const LayerChange*> worth_showing(const DbDiff& report, bool all) {
  std::vector<const LayerChange*> worth;
  for (const auto& layer : report.diff.layers)
    if (all || (layer.kernels && layer.kernels->any()) || layer.comparison.verdict != Verdict::same)
      worth.push_back(&layer);
  return worth;
}

/// The layer in words, or its signature for a table of all; with the state of the caches unless that is hot.
[[nodiscard]] inline std::string layer_text(const LayerChange& layer, bool all) {
  std::string text = all ? layer.signature : describe(parse_layer(layer.signature));
  if (layer.cache == CacheState::hot) return text;
  return text + ", " + std::string(enum_names(layer.cache)[static_cast<std::size_t>(layer.cache)]);
}

}  // namespace benanza::report
