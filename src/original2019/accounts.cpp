// SPDX-License-Identifier: Apache-2.0
#include "study/account.hpp"
#include <benanza/model/retype.hpp>
#include <benanza/original2019/rules.hpp>
#include <benanza/original2019/study.hpp>
#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace benanza::original2019 {

namespace {

RungName rung_of(const Total& total) {
  if (total.fused) return total.parallel ? RungName::library_fused_parallel : RungName::library_fused;
  return total.parallel ? RungName::library_parallel : RungName::library;
}

/// Adds a total to its account. A padded one is of another model and is not counted.
void add(StudyAccount& account, const Total& total) {
  account.missing = std::max(account.missing, total.missing);
  if (total.padded) return;
  if (total.advised) {
    if (!total.parallel && !total.fused && total.type == DataType::f32) account.advised = total.time;
    return;
  }
  const bool serial = !total.parallel && !total.fused && total.type == DataType::f16;
  if (serial) (total.nhwc ? account.any_layout : account.plain_layout) = total.time;
  if (total.nhwc) return;
  Rungs& rungs = total.type == DataType::f32 ? account.rungs : account.in_types[total.type];
  benanza::rung_of(rungs, rung_of(total)) = total.time;
}

class Totals {
 public:
  void add(const Total& total, int order) {
    const auto [at, added] =
        places_.try_emplace({order, total.source, total.device, total.model, total.batch}, accounts_.size());
    if (added)
      accounts_.push_back({.model = total.model, .device = total.device, .batch = total.batch, .source = total.source});
    original2019::add(accounts_[at->second], total);
  }
  [[nodiscard]] std::vector<StudyAccount> take() { return std::move(accounts_); }

 private:
  std::map<std::tuple<int, std::string, std::string, std::string, std::int64_t>, std::size_t> places_{};
  std::vector<StudyAccount> accounts_{};
};

bool has_type(const Results& results, DataType type) {
  const std::string part = "/" + std::string(name(type)) + "/";
  return std::any_of(results.calls.begin(), results.calls.end(),
                     [&part](const auto& call) { return call.first.find(part) != std::string::npos; });
}

std::optional<StudyAccount> account_of(const Graph& graph, const Results& results, const std::string& source,
                                       std::vector<std::string>& warnings) {
  Accounting made = analyze(graph, results);
  const Analysis& analysis = made.analysis;
  const auto missing = static_cast<std::int64_t>(analysis.missing.size());
  if (!analysis[RungName::library].bound || missing * 2 > analysis.layers) return std::nullopt;
  warnings.insert(warnings.end(), made.warnings.begin(), made.warnings.end());
  StudyAccount account{.model = graph.name,
                       .device = results.device,
                       .batch = graph.batch,
                       .source = source,
                       .rungs = bounds_of(analysis),
                       .missing = missing};
  if (const auto advised = analysis.reference.find("library_advised"); advised != analysis.reference.end())
    account.advised = advised->second;
  if (has_type(results, DataType::f16)) {
    const Accounting narrow = analyze(retype(graph, DataType::f16), results);
    if (narrow.analysis.missing.size() <= analysis.missing.size())
      account.in_types[DataType::f16] = bounds_of(narrow.analysis);
  }
  return account;
}

std::string milliseconds_text(Seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g ms", time.value * 1e3);
  return text;
}

}  // namespace

std::vector<StudyAccount> accounts_of_totals(const Data& data, const std::set<std::string>& models) {
  Totals totals;
  for (const auto& total : data.totals)
    if (models.contains(total.model) && total.source == "totals") totals.add(total, 0);
  for (const auto& table : data.printed)
    if (models.contains(table.is.model)) totals.add(table.is, 1);
  for (const auto& total : data.totals)
    if (models.contains(total.model) && total.source != "totals") totals.add(total, 2);
  return totals.take();
}

std::vector<StudyAccount> accounts_of_rows(const Data& data, const Graph& graph, std::vector<std::string>& warnings) {
  std::vector<StudyAccount> accounts;
  const auto add = [&](const Results& results, const char* source) {
    if (auto account = account_of(graph, results, source, warnings)) accounts.push_back(std::move(*account));
  };
  for (const auto& database : data.databases)
    if (database.batches.contains(graph.batch)) add(database, "database");
  for (const auto& table : data.tables)
    if (std::any_of(table.printed.begin(), table.printed.end(), [&graph](const auto& row) {
          return row.model == graph.name && (row.batch == 0 || row.batch == graph.batch);
        }))
      add(table, "rows");
  for (const auto& table : data.printed) {
    const Total& is = table.is;
    const bool plain = !is.fused && !is.advised && !is.nhwc && !is.padded && is.type == DataType::f32 && is.parallel;
    if (plain && is.model == graph.name && is.batch == graph.batch) add(table.rows, "printed rows");
  }
  return accounts;
}

std::vector<std::string> differing_totals(const Study& study) {
  constexpr double printed_digits = 1e-4;
  std::vector<std::string> notes;
  std::vector<std::string> lower;  // parallel totals without the last layer's own time
  for (const auto& totals : study.accounts) {
    if (totals.source != "totals") continue;
    for (const auto& rows : study.accounts) {
      if (rows.source != "rows" || rows.model != totals.model || rows.device != totals.device ||
          rows.batch != totals.batch)
        continue;
      const auto differ = [&](RungName name) {
        const auto printed = benanza::rung_of(totals.rungs, name), own = benanza::rung_of(rows.rungs, name);
        return printed && own && std::fabs(*printed / *own - 1) > printed_digits;
      };
      const std::string where = totals.model + ", " + totals.device + ", batch " + std::to_string(totals.batch);
      if (differ(RungName::library))
        notes.push_back(where + ": the printed sequential total is " +
                        milliseconds_text(*benanza::rung_of(totals.rungs, RungName::library)) +
                        ", its rows add up to " + milliseconds_text(*benanza::rung_of(rows.rungs, RungName::library)) +
                        (rows.missing == 0 ? ""
                                           : ", without " + std::to_string(rows.missing) +
                                                 (rows.missing == 1 ? " layer" : " layers")));
      else if (differ(RungName::library_parallel)) lower.push_back(where);
    }
  }
  if (!lower.empty())
    notes.push_back(std::to_string(lower.size()) +
                    " printed parallel totals differ from the critical path of their rows: the original left out the "
                    "last layer's own time, first of " +
                    lower.front());
  return notes;
}

}  // namespace benanza::original2019
