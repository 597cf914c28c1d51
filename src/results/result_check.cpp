// SPDX-License-Identifier: Apache-2.0
#include "row_fault.hpp"
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/result_check.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace benanza {

namespace {

using results::version_in;

struct Seen {
  const Run* run = nullptr;
  const Measurement* row = nullptr;
};

/// The fastest and the slowest valid row, and a rejected one.
struct Extremes {
  Seen fastest{}, slowest{}, refused{};
  void add(const Run& run, const Measurement& row) {
    const Seen seen{&run, &row};
    if (!was_tried(row.status) || row.status == RowStatus::ended) return;  // no evidence against a row that has a time
    if (!row.measured()) {
      refused = seen;
      return;
    }
    if (!fastest.row || row.times->median < fastest.row->times->median) fastest = seen;
    if (!slowest.row || row.times->median > slowest.row->times->median) slowest = seen;
  }
};

Conflict conflict_of(const Seen& first, const Seen& second, double tolerance) {
  Conflict result{.row = first.row->name(),
                  .backend = first.row->backend + " " + version_in(*first.run, first.row->backend),
                  .first_file = first.run->file,
                  .second_file = second.run->file,
                  .first = *first.row,
                  .second = *second.row};
  if (!second.row->measured()) result.comparison.reason = second.row->reason;
  else result.comparison = compare(timing_of_session(*first.row), timing_of_session(*second.row), tolerance);
  return result;
}

/// That other rows count instead of those with everything in the caches, which the faults name; empty if none do.
std::string replaced_text(const Run& run) {
  if (run.faults.empty()) return "";
  std::map<std::string, std::set<CacheState>> measured;
  std::set<std::string> lost;
  for (const auto& row : run.rows) {
    if (row.measured()) measured[row.signature].insert(row.cache);
    else if (row.cache == CacheState::hot && row.status == RowStatus::damaged) lost.insert(row.signature);
  }
  std::erase_if(lost, [&](const std::string& signature) {
    return measured[signature].empty() || measured[signature].contains(CacheState::hot);
  });
  if (lost.empty()) return "";
  return run.file + ": no hot row can be used of " + std::to_string(lost.size()) +
         (lost.size() == 1 ? " layer" : " layers") + ", whose cold-weights or cold rows count instead, first of " +
         *lost.begin();
}

}  // namespace

std::vector<Conflict> conflicts(const ResultDatabase& results, double tolerance) {
  std::map<std::tuple<std::string, std::string, std::string>, Extremes> found;  // row, machine, version
  for (const auto& run : results.runs()) {
    const std::string machine = run.machine.id();
    for (const auto& row : run.rows) found[{row.name(), machine, version_in(run, row.backend)}].add(run, row);
  }
  std::vector<Conflict> list;
  for (const auto& [key, seen] : found) {
    if (!seen.fastest.row) continue;
    if (seen.refused.row) list.push_back(conflict_of(seen.fastest, seen.refused, tolerance));
    if (seen.fastest.run == seen.slowest.run) continue;
    Conflict conflict = conflict_of(seen.fastest, seen.slowest, tolerance);
    if (conflict.comparison.verdict == Verdict::slower) list.push_back(std::move(conflict));
  }
  return list;
}

std::vector<Finding> check(const Run& run) {
  std::vector<Finding> findings;
  const auto add = [&](std::string what) { findings.push_back({run.file, std::move(what)}); };
  for (const auto& text : run.faults) add(text);
  std::set<std::string> names, unnamed;
  for (const auto& row : run.rows) {
    const std::string name = row.name();
    if (!names.insert(name).second) add(name + " is there twice");
    if (version_in(run, row.backend).empty() && unnamed.insert(row.backend).second)
      add(results::unnamed_text(row.backend));
    if (const std::string what = results::row_fault(row); !what.empty()) add(name + " " + what);
  }
  for (const auto& [row, what] : results::unlike_others(run)) add(run.rows[row].name() + " " + what);
  for (const auto& ceiling : run.ceilings)
    if (!std::isfinite(ceiling.value) || ceiling.value <= 0)
      add("ceiling " + ceiling.quantity.text() + " is not a positive number");
  return findings;
}

std::vector<Finding> damaged_rows(const ResultDatabase& results) {
  std::map<std::string, std::vector<const Run*>> by_machine;
  for (const auto& run : results.runs()) by_machine[run.machine.id()].push_back(&run);
  std::vector<Finding> findings;
  for (const auto& [machine, runs] : by_machine) {
    std::vector<CeilingRow> ceilings;
    for (const auto* run : runs) ceilings.insert(ceilings.end(), run->ceilings.begin(), run->ceilings.end());
    CeilingCheck check(ceilings);
    for (const auto* run : runs)
      for (const auto& row : run->rows)
        if (const std::string damage = check.damage(row); !damage.empty()) {
          findings.push_back({run->file, row.name() + ": " + damage});
        } else {
          for (const auto& line : check.contradictions(row))
            findings.push_back({run->file, row.name() + " reaches " + line});
        }
  }
  return findings;
}

std::vector<Finding> leftovers(const std::filesystem::path& folder) {
  std::vector<Finding> findings;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') && name.ends_with(".tmp"))
      findings.push_back({entry->path().string(), "a temporary file: its writer is at work, or was killed"});
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.file < b.file; });
  return findings;
}

std::size_t other_files(const std::filesystem::path& folder) {
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed)) return 0;
  const auto results = result_files(folder);
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->is_regular_file(failed) && !entry->path().filename().string().starts_with('.') &&
        std::find(results.begin(), results.end(), entry->path().string()) == results.end())
      ++count;
  return count;
}

std::vector<std::string> left_out(const ResultDatabase& results) {
  std::vector<std::string> lines;
  for (const auto& run : results.runs())
    if (!run.faults.empty())
      lines.push_back(run.file + ": partly unreadable: " + run.faults.front() +
                      (run.faults.size() == 1 ? "" : "; and " + std::to_string(run.faults.size() - 1) + " more") +
                      "; `benanza db verify` shows all");
  for (const auto& run : results.runs())
    if (const std::string line = replaced_text(run); !line.empty()) lines.push_back(line);
  std::vector<std::string> contradictions;
  for (const auto& run : results.runs())
    contradictions.insert(contradictions.end(), run.contradictions.begin(), run.contradictions.end());
  if (!contradictions.empty())
    lines.push_back("rows that contradict a ceiling and do not raise it: " + std::to_string(contradictions.size()) +
                    ", first " + contradictions.front() + "; `benanza db verify` shows all");
  return lines;
}

}  // namespace benanza
