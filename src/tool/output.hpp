// SPDX-License-Identifier: Apache-2.0
// emit: a report to where the options say.
#pragma once

#include "options.hpp"
#include "terminal.hpp"
#include <benanza/error.hpp>
#include <benanza/report.hpp>
#include <benanza/whole_file.hpp>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace benanza::tool {

/// Throws EnvironmentError before anything costly is done, if a file cannot be written.
inline void check_writable(const OutputOptions& options) {
  for (const auto& file : {options.json, options.csv})
    if (!file.empty() && file != "-" && !std::ofstream(file, std::ios::app))
      throw EnvironmentError(file + ": cannot be written");
  if (options.json == "-" && options.csv == "-") throw UsageError("--json - and --csv - both want stdout");
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

template <class Report>
void emit(const Report& report, const OutputOptions& options) {
  if (!options.json.empty()) write_to(options.json, [&](std::ostream& out) { write_json(out, report); });
  if (!options.csv.empty()) write_to(options.csv, [&](std::ostream& out) { write_csv(out, report); });
  if (options.json == "-" || options.csv == "-") return;
  write_to("-", [&](std::ostream& out) {
    write_table(out, report, {.all = options.all, .color = terminal::colors(), .width = terminal::width()});
  });
}

}  // namespace benanza::tool
