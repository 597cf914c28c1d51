// SPDX-License-Identifier: Apache-2.0
#include <benanza/results/ceiling_rows.hpp>
#include <benanza/results/result_check.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace benanza {

namespace {

std::string version_in(const Run& run, const std::string& backend) {
  const auto found = std::find_if(run.backends.begin(), run.backends.end(),
                                  [&](const BackendVersion& entry) { return entry.name == backend; });
  return found == run.backends.end() ? "" : found->version;
}

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

bool in_order(const MeasuredTimes& t) { return t.min <= t.p10 && t.p10 <= t.median && t.median <= t.p90; }

/// The error of a row by itself; empty if there is none.
std::string fault(const Measurement& row) {
  if (!row.measured()) return row.reason.empty() ? "is excluded without a reason" : "";
  if (!row.times) return "has no time";
  if (!in_order(*row.times)) return "has quantiles out of order: min, p10, median, p90";
  if (row.samples == 0 && !row.contended) return "has a time and no sample that counts";
  if (const double cv = row.times->cv.value_or(0); !std::isfinite(cv) || cv < 0) return "has a cv that is not a number";
  if (row.device && !(row.device->launch >= Seconds{} && row.device->launch < row.times->p10))
    return "has a launch that is not between 0 and its time";
  return "";
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
  std::size_t rounds = 0;
  for (const auto& row : run.rows) {
    const std::string name = row.name();
    if (!names.insert(name).second) add(name + " is there twice");
    if (version_in(run, row.backend).empty() && unnamed.insert(row.backend).second)
      add("backend '" + row.backend + "' has rows, but the context names no version of it");
    if (const std::string what = fault(row); !what.empty()) add(name + " " + what);
    if (row.rounds_s.empty()) continue;
    if (rounds != 0 && row.rounds_s.size() != rounds)
      add(name + " has " + std::to_string(row.rounds_s.size()) + " rounds, others of the run have " +
          std::to_string(rounds));
    rounds = rounds != 0 ? rounds : row.rounds_s.size();
  }
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
  std::vector<std::string> contradictions;
  for (const auto& run : results.runs())
    contradictions.insert(contradictions.end(), run.contradictions.begin(), run.contradictions.end());
  if (!contradictions.empty())
    lines.push_back("rows that contradict a ceiling and do not raise it: " + std::to_string(contradictions.size()) +
                    ", first " + contradictions.front() + "; `benanza db verify` shows all");
  return lines;
}

}  // namespace benanza
