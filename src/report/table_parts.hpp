// SPDX-License-Identifier: Apache-2.0
// Parts that the tables of bounds, layers and machines share.
#pragma once

#include "format/numbers.hpp"
#include "format/text.hpp"
#include <benanza/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

namespace benanza::report {

/// Bold on a terminal with colours.
[[nodiscard]] inline std::string strong(const std::string& text, const TableOptions& options) {
  return options.color ? "\033[1m" + text + "\033[0m" : text;
}

/// Columns that lines may fill.
[[nodiscard]] inline std::size_t width_of(const TableOptions& options) {
  return static_cast<std::size_t>(std::max(options.width, 80));
}

/// A name on a line of its own, after `indent` spaces: whole if all was asked for, else cut at the width.
[[nodiscard]] inline std::string name_line(std::string_view name, const TableOptions& options, std::size_t indent) {
  return std::string(indent, ' ') +
         (options.all ? format::printable(name) : format::clipped(name, width_of(options) - indent)) + '\n';
}

/// A sentence, wrapped, or the name of a layer, in one line.
[[nodiscard]] inline std::string item(const std::string& text, const TableOptions& options, std::size_t indent) {
  const bool is_name = text.find(' ') == std::string::npos;
  return is_name ? name_line(text, options, indent) : format::paragraph(text, width_of(options), indent);
}

/// `library fused resident`
[[nodiscard]] inline std::string rung_words(RungName name) {
  std::string text(enum_names(name)[static_cast<std::size_t>(name)]);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// `± 3.6 %`, without decimals from 10 % on, since they would say nothing about so rough an estimate.
[[nodiscard]] inline std::string plus_minus(double uncertainty) {
  return fmt::format("± {:.{}f} %", uncertainty * 100, uncertainty < 0.0995 ? 1 : 0);
}

/// The interval of a measured rung, or how much of it is floors if that is much: `± 3.6 %`, `F 95 %`.
[[nodiscard]] inline std::string interval_of(const Rung& rung) {
  return rung.mostly_floor() ? fmt::format("F {:.0f} %", 100 * rung.floor_share) : plus_minus(rung.uncertainty);
}

/// The marks behind the interval of a measured rung, each after a space: ` ~ W`.
[[nodiscard]] inline std::string marks_of(const Rung& rung) {
  return std::string(rung.provisional()   ? " ~"
                     : rung.common_rounds ? ""
                                          : " *") +
         (rung.saves_multiplications ? " W" : "");
}

/// Explains `F` in one line without an end; empty if no rung has this mark.
[[nodiscard]] inline std::string floor_note(const Analysis& a) {
  const bool any = std::any_of(a.rungs.begin(), a.rungs.end(), [](const Rung& rung) { return rung.mostly_floor(); });
  return any ? "F: share of floors of layers without a time; the interval is unknown" : "";
}

/// `batch 8, sequence 128`
[[nodiscard]] inline std::string sizes(std::int64_t batch, const std::map<std::string, std::int64_t>& dims) {
  std::string text = fmt::format("batch {}", batch);
  for (const auto& [key, value] : dims)
    if (key != "batch" || value != batch) text += fmt::format(", {} {}", format::clipped(key, 30), value);
  return text;
}

/// How many rows of a table are written.
[[nodiscard]] inline std::size_t shown_rows(std::size_t all, const TableOptions& options) {
  constexpr std::size_t rows_that_matter = 10;
  return options.all ? all : std::min(all, rows_that_matter);
}

inline void write_markdown_more(std::ostream& out, std::size_t shown, std::size_t all) {
  if (shown < all) out << fmt::format("\n{} more: `--all`\n", all - shown);
}

}  // namespace benanza::report
