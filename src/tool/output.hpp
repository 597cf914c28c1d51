// SPDX-License-Identifier: Apache-2.0
// emit: writes a report to the places in the options.
#pragma once

#include "options.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>
#include <benanza/report/report.hpp>
#include <benanza/results/whole_file.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

namespace benanza::tool {

/// Throws EnvironmentError before anything costly is done if a file cannot be written.
inline void check_writable(const OutputOptions& options) {
  int to_stdout = 0;
  for (const auto& file : options.files()) {
    if (file == "-") ++to_stdout;
    if (file == "-" || file.empty()) continue;
    std::error_code none;
    const bool was_there = std::filesystem::exists(std::filesystem::symlink_status(file, none));
    if (!std::ofstream(file, std::ios::app)) throw EnvironmentError(file + ": cannot be written");
    if (!was_there) std::filesystem::remove(file, none);  // an error before writing leaves no file
  }
  if (to_stdout > 1) throw UsageError("two outputs want stdout: give at most one of them the file -");
}

template <class Write>
void write_to(const std::string& file, Write write) {
  if (file == "-") {
    write(std::cout);
    std::cout.flush();
    if (!std::cout) throw EnvironmentError("stdout: cannot be written");
    return;
  }
  std::ostringstream out;
  write(out);
  write_whole(file, std::move(out).str());
}

/// Every report has a table, JSON, CSV and Markdown; rungs and pictures are only written for reports that have them.
template <class Report>
void emit(const Report& report, const OutputOptions& options) {
  if (!options.json.empty()) write_to(options.json, [&](std::ostream& out) { write_json(out, report); });
  if (!options.csv.empty()) write_to(options.csv, [&](std::ostream& out) { write_csv(out, report); });
  const TableOptions table{.all = options.all, .color = terminal::colors(), .width = terminal::width()};
  if (!options.md.empty())
    write_to(options.md, [&](std::ostream& out) {
      if constexpr (requires { write_markdown(out, report, table); }) write_markdown(out, report, table);
      else {
        std::ostringstream csv;
        if constexpr (requires { write_rungs_csv(out, report); }) {
          std::ostringstream rungs;
          write_rungs_csv(rungs, report);
          out << markdown_of_csv(std::move(rungs).str()) << '\n';
        }
        write_csv(csv, report);
        out << markdown_of_csv(std::move(csv).str());
      }
    });
  if constexpr (requires(std::ostream & out) { write_rungs_csv(out, report); })
    if (!options.csv_rungs.empty())
      write_to(options.csv_rungs, [&](std::ostream& out) { write_rungs_csv(out, report); });
  if constexpr (requires(std::ostream & out) { write_html(out, report); })
    if (!options.html.empty()) write_to(options.html, [&](std::ostream& out) { write_html(out, report); });
  if constexpr (requires(std::ostream & out) { write_dot(out, report); })
    if (!options.dot.empty()) write_to(options.dot, [&](std::ostream& out) { write_dot(out, report); });
  if constexpr (requires(std::ostream & out) { write_trace(out, report); })
    if (!options.trace.empty()) write_to(options.trace, [&](std::ostream& out) { write_trace(out, report); });
  for (const auto& file : options.files())
    if (file == "-") return;
  write_to("-", [&](std::ostream& out) { write_table(out, report, table); });
}

}  // namespace benanza::tool
