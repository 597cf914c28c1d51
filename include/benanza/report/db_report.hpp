// SPDX-License-Identifier: Apache-2.0
// Reports of `benanza db`: what a database holds, how two of them differ, what is wrong with one.
#pragma once

#include <benanza/bounds/model_diff.hpp>
#include <benanza/report/report.hpp>
#include <benanza/results/result_check.hpp>
#include <benanza/results/result_merge.hpp>

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

namespace benanza {

/// Report of `db list`.
struct DbList {
  std::vector<Run> runs{};                 ///< without their rows
  std::vector<std::size_t> timed{};        ///< rows with a time, for each run
  std::vector<std::size_t> refused{};      ///< rows that may not enter a bound, for each run
  std::vector<std::size_t> disagreeing{};  ///< rows for which no two methods of timing agree, for each run
  std::vector<std::string> unread{};       ///< one line for each file that cannot be read
};

/// Report of `db verify`.
struct DbVerification {
  std::size_t files = 0, rows = 0;
  /// Elements that say nothing about a row (`Run::ignored`), and files of the folders that are no results.
  std::size_t ignored_elements = 0, ignored_files = 0;
  std::vector<Finding> findings{};
  std::vector<Conflict> conflicts{};
};

/// Report of `db merge`.
struct DbMerge {
  std::string folder{};
  ResultMerge merge{};
  std::vector<Conflict> conflicts{};  ///< in the whole folder
};

/// Report of `db diff`.
struct DbDiff {
  struct Side {
    std::string place{};
    Machine machine{};
    std::vector<BackendVersion> backends{};
    std::size_t runs = 0;
  };
  Side before{}, after{};
  double tolerance = default_tolerance;
  ResultDiff diff{};
};

void write_table(std::ostream& out, const DbList& report, const TableOptions& options = {});
void write_json(std::ostream& out, const DbList& report);
void write_csv(std::ostream& out, const DbList& report);

void write_table(std::ostream& out, const DbVerification& report, const TableOptions& options = {});
void write_json(std::ostream& out, const DbVerification& report);
void write_csv(std::ostream& out, const DbVerification& report);

void write_table(std::ostream& out, const DbMerge& report, const TableOptions& options = {});
void write_json(std::ostream& out, const DbMerge& report);
void write_csv(std::ostream& out, const DbMerge& report);

void write_table(std::ostream& out, const DbDiff& report, const TableOptions& options = {});
void write_json(std::ostream& out, const DbDiff& report);
/// The rungs of each model, and the layers that changed, as tables in GitHub's Markdown.
void write_markdown(std::ostream& out, const DbDiff& report, const TableOptions& options = {});
/// One line per layer and cache state.
void write_csv(std::ostream& out, const DbDiff& report);
/// One line per measured rung of each model.
void write_rungs_csv(std::ostream& out, const DbDiff& report);

}  // namespace benanza
